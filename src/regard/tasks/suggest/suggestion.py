"""Suggest a recipe for data, with the reason for each choice."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from regard.data.check import Report
from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.tasks.examples import check_examples
from regard.tasks.kinds import KINDS
from regard.tasks.suggest.reading import find_reading
from regard.tasks.suggest.transfer import adapt_choices
from regard.tasks.transfer import Origin, complete_from

RARE = 5
"""Examples of a label below which all of them may be held out."""

MOST_LABELS = 50
"""Labels above which they are not listed."""


class Suggestion(NamedTuple):
    """A recipe, the reason for each choice by dotted path, and what a check of the data found."""

    recipe: Recipe
    reasons: dict[str, str]
    report: Report


def suggest(
    task: str, files: Sequence[str], origin: Origin | None = None, *, fields: Sequence[str] = ()
) -> Suggestion:
    """Choose a recipe for ``task`` from counts of ``files``; it fine-tunes ``origin``, if given."""
    kind = KINDS[task]
    reading = find_reading(kind.task, files, fields)
    seen = kind.task.survey(reading.data)
    choices = kind.suggest(files, seen)
    choices.tables["data"] |= reading.data.model_dump(exclude_defaults=True, exclude={"train"})
    if origin is not None:
        choices = adapt_choices(choices, origin, seen)
    reasons = {**reading.reasons, **choices.reasons}
    report = check_examples(make(choices.tables))
    if kind.task.reads_columns:
        choices.tables["data"] |= _adapt_to_findings(report, reasons)
    report.skip = "on_bad_line" in choices.tables["data"]
    recipe = make(choices.tables)
    return Suggestion(recipe if origin is None else complete_from(recipe, origin), reasons, report)


def _adapt_to_findings(report: Report, reasons: dict[str, str]) -> dict[str, Any]:
    """Set what lets a recipe train on data as it is, and say why."""
    found: dict[str, Any] = {}
    if report.bad:
        kinds = [kind for kind in report.summarize() if kind.severity == "bad"]
        counts = ", ".join(f"{kind.total:,} {kind.kind}" for kind in kinds)
        lines = "1 line" if report.bad == 1 else f"{report.bad:,} lines"
        found["on_bad_line"] = "skip"
        reasons["data.on_bad_line"] = f"{lines} cannot be used ({counts}); see `regard check`."
    labels = report.labels.get("train", Counter())
    if 1 < len(labels) <= MOST_LABELS and min(labels.values()) < RARE:
        found["labels"] = sorted(labels)
        label, count = labels.most_common()[-1]
        reasons["data.labels"] = (
            "listed, since all examples of a rare one may be held out; of "
            f"{label!r} there {'is' if count == 1 else 'are'} {count}."
        )
    return found
