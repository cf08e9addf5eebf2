"""The options that several verbs share, each said once."""

from pathlib import Path
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
Answering = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="decoding.a=b",
        help="Answer otherwise than the recipe says; may be given again.",
    ),
]
Ensemble = Annotated[
    list[Path],
    typer.Option(
        "--ensemble",
        metavar="RUN",
        help="Another run of the same labels whose network answers as well; may be given again.",
    ),
]
