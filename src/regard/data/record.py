"""What readers yield: records, and faults with file and line."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

LABEL = "label"
"""Role of the field that is a label or a score; all other roles are texts."""

Severity = Literal["note", "bad", "fatal"]
"""``note``: information; ``bad``: the line cannot be used; ``fatal``: nor can the file."""

SKIP_BY_RECIPE = 'set data.on_bad_line = "skip"'
CORRECT = f"Correct the line, or {SKIP_BY_RECIPE} to leave such lines out."


class Record(NamedTuple):
    """One example: its fields in the task's order, its file and line."""

    fields: tuple[str, ...]
    file: str
    line: int
    group: str = ""
    """Value of the group column; empty if there is none."""


class Fault(NamedTuple):
    """A problem in the data, its file and line."""

    kind: str
    severity: Severity
    file: str
    line: int
    problem: str
    remedy: str

    @property
    def place(self) -> str:
        """``file:line``, or the file alone if the fault concerns no single line."""
        return f"{self.file}:{self.line}" if self.line else self.file


Found = Record | Fault


class Request(NamedTuple):
    """What to read from the files: how many fields, which ones, in which languages."""

    expected: int | None = None
    fields: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    label_separator: str = ""
    """Joins the labels of a format that lists them, such as JSON."""
    group: str = ""
    """Name or number of the group column; empty: none is read."""
    encoding: str = "utf-8"
    roles: tuple[str, ...] = ()
    """What the fields are, such as text and label; columns without names are chosen by them."""
    scores: bool = False
    """Whether the last field is a number, which a table may write with a decimal comma."""


Reader = Callable[[Sequence[Path], Request], Iterator[Found]]


def make_fault(kind: str, file: Path, line: int, problem: str) -> Fault:
    """Make the fault of a line that cannot be used."""
    return Fault(kind, "bad", str(file), line, problem, CORRECT)


def make_blank_note(file: Path, line: int) -> Fault:
    """Make the note that a blank line is skipped."""
    return Fault("blank", "note", str(file), line, "The line is blank.", "It is skipped.")


def make_record(
    fields: tuple[str, ...],
    file: Path,
    line: int,
    *,
    group: str = "",
    roles: tuple[str, ...] = (),
    no_label: bool = False,
) -> Found:
    """Make a record, or a fault if a field is empty or not valid text.

    With ``no_label`` the data say that the example has no label, so that its field is empty.
    """
    for number, field in enumerate(fields, start=1):
        if not field.strip() and not (no_label and number == len(fields)):
            role = roles[number - 1] if roles else ""
            what = f"The {role}" if role else f"Field {number} of {len(fields)}"
            kind = "empty-label" if role == LABEL else "empty-field"
            return make_fault(kind, file, line, f"{what} is empty.")
        if "\0" in field:
            return make_fault("nul", file, line, f"Field {number} contains a NUL character.")
        if _has_surrogate(field):
            return make_fault(
                "encoding", file, line, f"Field {number} contains an unpaired surrogate."
            )
    if _has_surrogate(group):
        return make_fault("encoding", file, line, "The group contains an unpaired surrogate.")
    return Record(fields, str(file), line, group.strip())


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
