"""Check the data of a retrieval run before training; every finding has file and line."""

from collections.abc import Iterable
from pathlib import Path

from regard.data.check import Finding, Report
from regard.data.formats.beir import Document, Judgment, Query
from regard.data.record import Fault, Found
from regard.errors import RegardError
from regard.recipe.recipe import Recipe
from regard.tasks.retrieval.read_examples import (
    has_pairs,
    judgments,
    name_of,
    read_training_documents,
    records,
)


def check(recipe: Recipe) -> Report:
    """Check the training data, then the queries for evaluation."""
    report = Report()
    for split in ("train", "valid", "test"):
        for file in getattr(recipe.data, split):
            report.records.setdefault(split, 0)
            try:
                _check(report, recipe, Path(file).expanduser(), split)
            except RegardError as error:
                report.add(Finding("usage", "fatal", split, file, 0, error.problem, error.remedy))
    return report


def _check(report: Report, recipe: Recipe, path: Path, split: str) -> None:
    if split != "train" or has_pairs(recipe, path):
        _take(report, split, records(recipe, [str(path)], split))
        return
    _take(report, split, read_training_documents(recipe, path))
    if "labelled" in recipe.retrieval.pairs:
        _take(report, split, judgments(path, split))


def _take(report: Report, split: str, found: Iterable[Found | Document | Judgment | Query]) -> None:
    seen: dict[str, str] = {}
    for one in found:
        if isinstance(one, Fault):
            report.add(Finding(one.kind, one.severity, split, *one[2:]))
            continue
        report.records[split] += not isinstance(one, Judgment | Query)
        if isinstance(one, Document) and one.text:
            place = f"{one.file}:{one.line}"
            first = seen.setdefault(name_of(one.text), place)
            if first != place:
                problem = f"The document {one.name!r} has the same text as {first}."
                remedy = "Remove one of them: in a ranking they compete with each other."
                report.add(Finding("duplicate", "note", split, one.file, one.line, problem, remedy))
