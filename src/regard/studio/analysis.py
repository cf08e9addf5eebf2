"""What the background process computes: comparisons and descriptions, as JSON has them."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from regard.errors import UsageError
from regard.inference.answered_table import AnsweredTable, check_input, format_answer
from regard.inference.comparison import compare
from regard.inference.predictor import Predictor, load_run
from regard.report import imported
from regard.report.comparison import mean_curves
from regard.report.run import summarise_run
from regard.run import Run

SHOWN = ("title", "summary", "recipe", "scores", "confusion", "samples", "sample_words")
FACTS = ("data", "cost", "environment", "commands")
AT_ONCE = 20  # answers that are sent at a time


def describe_run(folder: Path) -> dict[str, Any]:
    """Gather what a run's report says, without its drawings."""
    run = Run(folder)
    page = imported.report_data(run) if "imported" in run.metrics else summarise_run(run)
    found = asdict(page)
    return {name: found[name] for name in (*SHOWN, *FACTS)}


def compare_runs(folders: Sequence[Path], names: Sequence[str]) -> dict[str, Any]:
    """Compare runs: scores by group with intervals, tests, and mean curves."""
    compared = compare([Run(folder) for folder in folders])
    chosen = {Path(folder): name for folder, name in zip(folders, names, strict=True)}
    found = compared.as_json()
    for group, known in zip(found["groups"], compared.groups, strict=True):
        group["runs"] = [chosen[run.folder] for run in known.runs]
    main = {(pair.first, pair.second, pair.metric) for pair in compared.main_pairs}
    found["pairs"] = [
        {**pair, "main": (pair["first"], pair["second"], pair["metric"]) in main}
        for pair in found["pairs"]
    ]
    return {
        **found,
        "rows": compared.rows(),
        "baseline_name": compared.baseline_name,
        "curves": mean_curves(compared.groups),
    }


def differing_answers(one: Path, other: Path, begin: int) -> dict[str, Any]:
    """List the answers in which two runs differ, from one place on."""
    first, second = (Run(folder).answers for folder in (one, other))
    asked = [[answer["asked"] for answer in answers] for answers in (first, second)]
    if not first or asked[0] != asked[1]:
        raise UsageError(
            "answers are compared where both runs were measured on the same examples.",
            "Name the same data.test in both recipes and train again.",
        )
    pairs = [
        {
            "asked": here["asked"],
            "expected": here["expected"],
            "answered": [here["answered"], there["answered"]],
            "scores": [here["score"], there["score"]],
        }
        for here, there in zip(first, second, strict=True)
        if here["answered"] != there["answered"]
    ]
    shown = pairs[begin : begin + AT_ONCE]
    return {"of": len(first), "differing": len(pairs), "begin": begin, "answers": shown}


def answer_table(folder: Path, name: str, content: str) -> dict[str, Any]:
    """Answer a table, or a text line by line; return it with columns for the answers."""
    predictor, said = Predictor(load_run(folder)), list[str]()
    with TemporaryDirectory() as place:
        source = _write_table(Path(place), name, content)
        answered = source.with_name(f"answered{source.suffix}")
        table = AnsweredTable(predictor.run, source, say=said.append)
        shown, texts = tee(table.read())
        answers, kept = tee(predictor.predict_all(texts, truncate=True))
        truncated = table.write(answers, answered)
        rows = [
            [text, *format_answer(answer).split("\t")]
            for text, answer in zip(shown, kept, strict=False)
        ]
        return {
            "name": f"{Path(name).stem}-answered{source.suffix}",
            "content": answered.read_text(encoding="utf-8"),
            "columns": said,
            "count": len(rows),
            "shown": rows[:AT_ONCE],
            "truncated": truncated,
        }


def _write_table(folder: Path, name: str, content: str) -> Path:
    """Write what was sent as a table; lines of a plain text become rows."""
    source = folder / f"asked{Path(name).suffix.lower()}"
    if not check_input(source):
        source = source.with_suffix(".csv")
        with source.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["text"], *([line] for line in content.splitlines())])
        return source
    source.write_text(content, encoding="utf-8", newline="")
    return source


FUNCTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe_run": describe_run,
    "compare_runs": compare_runs,
    "differing_answers": differing_answers,
    "answer_table": answer_table,
}
