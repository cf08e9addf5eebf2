"""``regard check``: look at recipe and data before any compute."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, Sets
from regard.cli.screen import clean, console, print_json, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.data.check import Finding, Report

STYLES = {"fatal": "bold red", "bad": "red", "warning": "yellow", "note": "dim"}


def check(
    recipe: Annotated[str, typer.Argument(help="A recipe file, or the name of a shipped one.")],
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    as_json: AsJson = False,
) -> int:
    """Check a recipe and its data before any compute; every finding names file and line.

    Looks for text that is not UTF-8, empty, duplicate and overlong lines, sides that do not match,
    examples or groups (data.group) that stand in two splits, and labels out of balance. Ends with
    exit code 1 if training could not read everything.

    Examples:
        regard check recipe.toml
        regard check recipe.toml --set data.train='["new.de", "new.en"]' --json

    """
    from regard.data.check import LabelChecks
    from regard.data.check import check as check_data
    from regard.data.record import Request
    from regard.recipe.load import load
    from regard.tasks.kinds import task_class

    settings = load(recipe, sets)
    data = settings.data
    if not data.train:
        raise UsageError(
            f"{recipe} is the recipe of an imported run, which has no data.",
            "Check the recipe that you want to train by.",
        )
    splits = {"train": data.train, "valid": data.valid, "test": data.test}
    task = task_class(settings)
    long = data.format == "whole" or task.long_texts
    labelling = LabelChecks(data.scores, partial(task.refusal, settings))
    report = task.check(settings) or check_data(
        {name: files for name, files in splits.items() if files},
        format=data.format,
        request=Request(task.fields, data.fields, data.languages, data.label_separator, data.group),
        labelled=labelling if task.fields > task.texts else False,
        **({"longest_characters": sys.maxsize} if long else {}),
    )
    if as_json:
        print_json(report.as_dict())
    else:
        _show(report)
    return 0 if report.ok else 1


def _show(report: "Report") -> None:
    out = console()
    for finding in report.findings:
        out.print(_told(finding), style=STYLES[finding.severity], soft_wrap=True)
    listed = {finding.kind for finding in report.findings}
    for kind in sorted(listed):
        shown = sum(finding.kind == kind for finding in report.findings)
        if report.counts[kind] > shown:
            print_text(f"… and {report.counts[kind] - shown:,} more of the kind {kind}")
    counts = ", ".join(f"{name} {count:,}" for name, count in report.records.items())
    verdict = "the data can be read" if report.ok else "training would stop at the lines in red"
    print_text(f"examples: {counts}; {verdict}")


def _told(finding: "Finding") -> str:
    line = f":{finding.line}" if finding.line else ""
    place = f"{Path(finding.file).name}{line}" if finding.file else finding.split
    return clean(f"{finding.severity:8}{place}: {finding.problem} {finding.remedy}")
