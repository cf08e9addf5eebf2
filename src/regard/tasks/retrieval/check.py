"""Checking a searcher's data before any compute: every finding with file and line."""

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
    learned_from,
    name_of,
    records,
)


def check(recipe: Recipe) -> Report:
    """Check what is learned from, then the questions that are measured on."""
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
    _take(report, split, learned_from(recipe, path))
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
                problem = f"The document {one.name!r} says the same as {first}."
                remedy = "Leave one of them out: in a ranking each takes the other's place."
                report.add(Finding("duplicate", "note", split, one.file, one.line, problem, remedy))
