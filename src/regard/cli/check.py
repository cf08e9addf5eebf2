"""``regard check``: check recipe and data before any compute."""

from typing import Annotated

import typer

from regard.cli.findings import print_findings
from regard.cli.options import AsJson, Sets
from regard.cli.screen import print_json
from regard.errors import UsageError


def check(
    recipe: Annotated[str, typer.Argument(help="A recipe file, or the name of a shipped one.")],
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    as_json: AsJson = False,
) -> int:
    """Check a recipe and its data before any compute; every finding names file and line.

    Looks for bytes that are not text, empty, duplicate and overlong lines, sides that do not match,
    examples or groups (data.group) that occur in two splits, texts with two labels, and rare
    labels. Each kind is counted, the worst first; --json lists more places. Exit code 1: training
    would stop. Bad lines are no reason to stop with data.on_bad_line = "skip".

    Examples:
        regard check recipe.toml
        regard check recipe.toml --set data.on_bad_line=skip
        regard check recipe.toml --set data.train='["new.de", "new.en"]' --json

    """
    from regard.recipe.load import load
    from regard.tasks.examples import check_examples, require_files

    settings = load(recipe, sets)
    if not settings.data.train:
        raise UsageError(
            f"{recipe} is the recipe of an imported run, which has no data.",
            "Check the recipe that you want to train.",
        )
    require_files(settings)
    report = check_examples(settings)
    if as_json:
        print_json(report.as_dict())
    else:
        print_findings(report)
    return 0 if report.ok else 1
