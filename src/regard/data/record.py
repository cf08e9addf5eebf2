"""What a reader finds: records, and faults that name their place."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

Severity = Literal["note", "bad", "fatal"]
"""``note``: worth knowing; ``bad``: this line cannot be used; ``fatal``: nor can the file."""

CORRECT = 'Correct the line, or set data.on_bad_line = "skip" to leave such lines out.'


class Record(NamedTuple):
    """One example as the files have it, in the task's order, and where it stands."""

    fields: tuple[str, ...]
    file: str
    line: int
    group: str = ""
    """What the column of groups holds; empty where there is none."""


class Fault(NamedTuple):
    """Something wrong with the data, and where."""

    kind: str
    severity: Severity
    file: str
    line: int
    problem: str
    remedy: str

    @property
    def place(self) -> str:
        """``file:line``, or the file alone where no line is to blame."""
        return f"{self.file}:{self.line}" if self.line else self.file


Found = Record | Fault


class Request(NamedTuple):
    """What is wanted from the files: how many fields, which ones, in which languages."""

    expected: int | None = None
    fields: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    label_separator: str = ""
    """What is put between labels that a format keeps apart, such as a list in JSON."""
    group: str = ""
    """The column that groups examples, by name or number; empty: none is read."""


Reader = Callable[[Sequence[Path], Request], Iterator[Found]]


def bad(kind: str, file: Path, line: int, problem: str) -> Fault:
    """Name a line that cannot be used."""
    return Fault(kind, "bad", str(file), line, problem, CORRECT)


def blank(file: Path, line: int) -> Fault:
    """Name a line with nothing on it, which is passed over."""
    return Fault("blank", "note", str(file), line, "The line is blank.", "It is passed over.")


def examined(fields: tuple[str, ...], file: Path, line: int, *, group: str = "") -> Found:
    """Make a record, unless a field is empty or holds what is no text."""
    for number, field in enumerate(fields, start=1):
        if not field.strip():
            return bad("empty-field", file, line, f"Field {number} of {len(fields)} is empty.")
        if "\0" in field:
            return bad("nul", file, line, f"Field {number} holds a NUL, which no text has.")
        if _has_half_a_pair(field):
            return bad("encoding", file, line, f"Field {number} holds half a surrogate pair.")
    if _has_half_a_pair(group):
        return bad("encoding", file, line, "The group holds half a surrogate pair.")
    return Record(fields, str(file), line, group.strip())


def _has_half_a_pair(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
