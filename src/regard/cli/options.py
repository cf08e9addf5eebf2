"""The options that several verbs share, each said once."""

from typing import Annotated

import typer

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object to stdout and nothing else there.")
]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="a.b=c", help="Change a setting of the recipe; may be given again."
    ),
]
