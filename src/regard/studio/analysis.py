"""What the background process computes: comparisons and descriptions, as JSON has them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.inference.comparison import compare
from regard.report import imported
from regard.report.comparison import mean_curves
from regard.report.run import summarise_run
from regard.run import Run

SHOWN = ("title", "summary", "recipe", "scores", "confusion", "samples", "sample_words")
FACTS = ("data", "cost", "environment", "commands")
AT_ONCE = 50  # differing answers that are sent at a time


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


FUNCTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe_run": describe_run,
    "compare_runs": compare_runs,
    "differing_answers": differing_answers,
}
