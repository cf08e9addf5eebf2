"""Answers to the rows of a table: printed, or written next to the columns it has."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.options import check_new
from regard.cli.screen import print_text
from regard.errors import DataError, UsageError

if TYPE_CHECKING:
    from regard.data.formats.rewriting import Table
    from regard.run import Run
    from regard.tasks.task import Prediction

Answer = Callable[[Iterable[str]], Iterator["Prediction"]]


class AnsweredTable:
    """A table whose rows are answered.

    Args:
        run: The run that answers; its recipe names the columns unless ``fields`` do.
        source: The table.
        fields: Names or numbers of the columns with the texts.

    """

    def __init__(self, run: "Run", source: Path, fields: tuple[str, ...]) -> None:
        from regard.data.record import LABEL

        self._labelled = LABEL in run.task.roles and not run.recipe.data.scores
        self._table = _open(run, source, fields)
        self._source = source

    def read(self) -> Iterator[str]:
        """Yield the text of each row, the two texts of a pair separated by a tab."""
        for texts in self._table.read():
            plain = [" ".join(text.split("\t")) if len(texts) > 1 else text for text in texts]
            yield "\t".join(plain) if all(text.strip() for text in texts) else ""

    def write(self, answers: Iterable["Prediction"], output: Path, show: Callable[..., str]) -> int:
        """Write the table with answer and probability; return how many tokens were cut."""
        cut = 0
        unfinished = output.with_name(f".{output.name}.unfinished")
        try:
            with unfinished.open("w", encoding=self._table.encoding, newline="") as file:
                more = ("answer", "probability") if self._labelled else ("answer",)
                self._table.begin(file, more)
                for answer in answers:
                    cells = [" ".join(part.split()) for part in show(answer).split("\t")]
                    cells += [""] * (len(more) - len(cells))
                    self._table.write(file, cells[: len(more)])
                    cut += answer.truncated
            check_new(output)
            unfinished.rename(output)
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self._source} is {self._table.encoding.upper()}, which has no "
                f"{error.object[error.start]!r}, and an answer needs it.",
                "Save the table as UTF-8, and ask again.",
            ) from None
        finally:
            unfinished.unlink(missing_ok=True)
        return cut


def check_input(source: Path) -> None:
    """Refuse a table in a format that is not answered."""
    from regard.data.source import refuse_spreadsheet

    refuse_spreadsheet(source)
    if source.suffix == ".parquet":
        raise UsageError(
            f"tables to answer are csv, tsv or jsonl. Got {source.name}.",
            "Save it as one of them.",
        )


def check_output(source: Path, output: Path) -> None:
    """Refuse to write a table into a file of another format."""
    from regard.data.compression import plain_name
    from regard.data.formats.rewriting import is_table

    if is_table(output) and output.suffix.lower() != plain_name(source).suffix.lower():
        raise UsageError(
            f"a table keeps its format. Got {source.name} and {output.name}.",
            f"Name an output file that ends in {plain_name(source).suffix}.",
        )


def _open(run: "Run", source: Path, fields: tuple[str, ...]) -> "Table":
    """Open a table at the columns that are named, that the recipe names, or that hold texts."""
    from regard.data.formats.rewriting import open_table
    from regard.data.record import LABEL, Request

    task, data = run.task, run.recipe.data
    texts = [role for role in task.roles if role != LABEL]
    roles = tuple(texts if LABEL in task.roles else texts[:1])
    request = Request(len(roles), fields, data.languages[:1], roles=roles)
    if fields:
        return open_table(source, request)
    learned = data.fields[: len(roles)]
    if learned:
        try:
            return open_table(source, request._replace(fields=learned))
        except DataError:
            pass  # the table has other names; its own are found below
    table = open_table(source, request)
    if table.choice.guessed:
        _say_columns(table, roles)
    return table


def _say_columns(table: "Table", roles: Sequence[str]) -> None:
    chosen = [table.choice.columns[at].name for at in table.choice.chosen]
    named = ", ".join(f"{role} = {name!r}" for role, name in zip(roles, chosen, strict=True))
    print_text(f"{named}; change with --fields", to=sys.stderr)
