"""``regard recipe``: list, show and document recipes and their settings."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import AsJson, Sets
from regard.cli.screen import print_json, print_rows, print_text
from regard.cli.verbs import put
from regard.recipe.document import explanation, reference, schema
from regard.recipe.dump import dump
from regard.recipe.load import load
from regard.recipe.settings import REQUIRED, shown
from regard.recipe.shipped import list_shipped, read_summary

app = typer.Typer(rich_markup_mode=None)


def listed(as_json: AsJson = False) -> None:
    """List the recipes that come with regard.

    Examples:
        regard recipe list

    """
    found = {name: read_summary(path) for name, path in list_shipped().items()}
    if as_json:
        print_json({"recipes": found})
    else:
        print_rows(found.items())


def show(
    recipe: Annotated[str, typer.Argument(help="A recipe's file, or a shipped recipe's name.")],
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    comments: Annotated[
        bool, typer.Option("--comments", help="Write each setting's meaning above it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a recipe with every default written out.

    Examples:
        regard recipe show scenes
        regard recipe show recipe.toml --comments
        regard recipe show scenes --set model.depth=6 > mine.toml

    """
    found = load(recipe, sets)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_text(dump(found, folder=Path.cwd(), comments=comments).rstrip("\n"))


def explain(
    path: Annotated[str, typer.Argument(help="A setting or a table; by default all.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what a setting means and what it may be.

    Examples:
        regard recipe explain model.mixer.heads
        regard recipe explain training

    """
    found = explanation(path)
    if as_json:
        rows = [
            {**line._asdict(), "default": None if line.default is REQUIRED else line.default}
            for line in found
        ]
        print_json({"settings": rows})
        return
    for line in found:
        kind = f' (kind "{line.kind}")' if line.kind else ""
        print_text(
            f"{line.path} = {shown(line.default)}{kind}\n    {line.means.replace('``', '`')}"
        )
        print_text(f"    {line.allowed}")


def print_schema() -> None:
    """Print the JSON schema that editors check recipes by.

    Examples:
        regard recipe schema > recipe.schema.json

    """
    print_json(schema())


def document(
    output: Annotated[
        Path | None, typer.Option("--output", help="File to write, else stdout.")
    ] = None,
) -> None:
    """Write the reference of every setting, as Markdown.

    Examples:
        regard recipe document --output docs/recipe.md

    """
    if output is None:
        print_text(reference().rstrip("\n"))
    else:
        output.write_text(reference(), encoding="utf-8")


put(app, "list", listed)
put(app, "show", show, needy=True)
put(app, "explain", explain)
put(app, "schema", print_schema)
put(app, "document", document)
