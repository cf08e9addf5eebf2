"""The options that several verbs share, each said once."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from regard.data.record import SKIP_BY_RECIPE
from regard.errors import DataError, UsageError

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object to stdout and nothing else there.")
]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="a.b=c", help="Change a setting of the recipe; may be given again."
    ),
]
Decoding = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="decoding.a=b",
        help="Override a [decoding] setting of the recipe; may be given again.",
    ),
]
Ensemble = Annotated[
    list[Path],
    typer.Option(
        "--ensemble",
        metavar="RUN",
        help="Another run with the same labels, to average predictions with; may be given again.",
    ),
]
Fields = Annotated[
    str,
    typer.Option(
        "--fields",
        metavar="A,B",
        help="The columns to read, by name or number from 0, in the task's order.",
    ),
]
SkipBadLines = Annotated[
    bool, typer.Option("--skip-bad-lines", help="Leave out lines that cannot be used.")
]
Page = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE.html", help="A new HTML page to write as well."),
]


def parse_fields(fields: str) -> tuple[str, ...]:
    """Split the columns that --fields names; a name with a comma is quoted."""
    rows = csv.reader([fields], skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def check_new(file: Path | None, *endings: str) -> None:
    """Refuse an output file that exists, or whose ending is not one of those given."""
    if file is None:
        return
    if endings and file.suffix not in endings:
        raise UsageError(
            f"an output file ends in {', '.join(endings)}. Got {file}.", "Give it such an ending."
        )
    if file.exists():
        raise UsageError(f"nothing is overwritten. {file} exists.", "Name another file.")


@contextmanager
def offer_skipping() -> Iterator[None]:
    """Advise --skip-bad-lines where an error advises a setting of a recipe."""
    try:
        yield
    except DataError as error:
        remedy = error.remedy.replace(SKIP_BY_RECIPE, "use --skip-bad-lines")
        raise DataError(error.problem, remedy) from error
