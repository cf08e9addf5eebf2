"""Answers to the rows of a table: printed, or written next to the columns it has."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from regard.data.compression import plain_name
from regard.data.formats.rewriting import Table, is_table, open_table
from regard.data.record import LABEL, Request
from regard.data.source import refuse_spreadsheet
from regard.errors import DataError, UsageError
from regard.run import Run
from regard.tasks.task import Prediction

Say = Callable[[str], object]


class AnsweredTable:
    """A table whose rows are answered.

    Args:
        run: The run that answers; its recipe names the columns unless ``fields`` do.
        source: The table.
        fields: Names or numbers of the columns with the texts.
        say: Hears which columns were chosen, where nothing named them.

    """

    def __init__(
        self,
        run: Run,
        source: Path,
        fields: tuple[str, ...] = (),
        say: Say = lambda _: None,
    ) -> None:
        self._labelled = LABEL in run.task.roles and not run.recipe.data.scores
        self._table = _open(run, source, fields, say)
        self._source = source

    def read(self) -> Iterator[str]:
        """Yield the text of each row, the two texts of a pair separated by a tab."""
        for texts in self._table.read():
            plain = [" ".join(text.split("\t")) if len(texts) > 1 else text for text in texts]
            yield "\t".join(plain) if all(text.strip() for text in texts) else ""

    def write(
        self,
        answers: Iterable[Prediction],
        output: Path,
        check_new: Callable[[Path], object] = lambda _: None,
    ) -> int:
        """Write the table with answer and probability; return how many tokens were cut."""
        cut = 0
        try:
            with write_unfinished(output, self._table.encoding, check_new) as file:
                more = ("answer", "probability") if self._labelled else ("answer",)
                self._table.begin(file, more)
                for answer in answers:
                    cells = [" ".join(part.split()) for part in format_answer(answer).split("\t")]
                    cells += [""] * (len(more) - len(cells))
                    self._table.write(file, cells[: len(more)])
                    cut += answer.truncated
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self._source} is {self._table.encoding.upper()}, which has no "
                f"{error.object[error.start]!r}, and an answer needs it.",
                "Save the table as UTF-8, and ask again.",
            ) from None
        return cut


def format_answer(answer: Prediction) -> str:
    """Write the answer; a label with its probability after a tab; a vector as JSON has it."""
    if answer.vector:
        return json.dumps([round(number, 6) for number in answer.vector])
    if not answer.probabilities:
        return answer.text
    label = "(no label)" if answer.labels == () else answer.text
    return f"{label}\t{math.exp(answer.log_probability):.4f}"


@contextmanager
def write_unfinished(
    output: Path, encoding: str = "utf-8", check_new: Callable[[Path], object] = lambda _: None
) -> Iterator[TextIO]:
    """Write a new file, which gets its name when it is finished; else nothing of it stays."""
    unfinished = output.with_name(f".{output.name}.unfinished")
    try:
        with unfinished.open("w", encoding=encoding, newline="") as file:
            yield file
        check_new(output)
        unfinished.rename(output)
    finally:
        unfinished.unlink(missing_ok=True)


def check_input(source: Path) -> bool:
    """Refuse a table in a format that is not answered; tell tables from lines of text."""
    refuse_spreadsheet(source)
    if source.suffix == ".parquet":
        raise UsageError(
            f"tables to answer are csv, tsv or jsonl. Got {source.name}.",
            "Save it as one of them.",
        )
    return is_table(source)


def check_output(source: Path, output: Path) -> None:
    """Refuse to write a table into a file of another format."""
    if is_table(output) and output.suffix.lower() != plain_name(source).suffix.lower():
        raise UsageError(
            f"a table keeps its format. Got {source.name} and {output.name}.",
            f"Name an output file that ends in {plain_name(source).suffix}.",
        )


def _open(run: Run, source: Path, fields: tuple[str, ...], say: Say) -> Table:
    """Open a table at the columns that are named, that the recipe names, or that hold texts."""
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
        _say_columns(table, roles, say)
    return table


def _say_columns(table: Table, roles: Sequence[str], say: Say) -> None:
    chosen = [table.choice.columns[at].name for at in table.choice.chosen]
    named = ", ".join(f"{role} = {name!r}" for role, name in zip(roles, chosen, strict=True))
    say(f"{named}; change with --fields")
