"""Which columns of a table a task reads: by their names, else by what they hold.

text     long and varied                       number, date    neither
label    few different values, repeated        id              short, each value once
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import fmean
from typing import Any, Literal, NamedTuple, TypeVar

from regard.data.formats.column_names import find_usual_names, is_known, is_name_of
from regard.data.record import LABEL, Fault, Request

_SAMPLED = 1000
_SAMPLED_CHARACTERS = 1 << 20

Kind = Literal["text", "label", "word", "id", "date", "number", "constant", "empty"]

_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}([., ']\d{3})+)([.,]\d+)?([eE][+-]?\d+)? ?%?")
_DATE = re.compile(
    r"(\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}\.? \w{3,9}\.?,? \d{4}|\w{3,9}\.? \d{1,2},? \d{4})"
    r"([ T,]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_CODE = re.compile(r"\S*(\d|@|://)\S*")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_MOST = 0.95
_FEW_ROWS = 10
_ONCE = 0.1  # share of cells with a label of their own, up to which a name is no further label
_LONGEST_NAME = 60


class Column(NamedTuple):
    """A column: its place, its name, what it holds, and the mean length of its cells."""

    at: int
    name: str
    kind: Kind
    length: float

    def __str__(self) -> str:
        """Return name and kind, for messages."""
        return f"{self.name!r} ({self.kind})"


class ColumnChoice(NamedTuple):
    """The columns to read in the task's order, and all of them."""

    chosen: list[int]
    columns: list[Column]
    header: bool
    """Whether the first row has the names of the columns."""
    doubt: str = ""
    """Why no columns could be chosen."""
    guessed: bool = False
    """Whether they were chosen by what they hold: a proposal, which only a person accepts."""

    @property
    def fields(self) -> tuple[str, ...]:
        """What ``data.fields`` must say to read the same columns."""
        return tuple(
            self.columns[at].name if self.header and self.columns[at].name else str(at)
            for at in self.chosen
        )


Row = TypeVar("Row", bound=tuple[int, Any])
"""A line number and its cells, in a list or by name."""


def take_sample(rows: Iterator[Row | Fault], request: Request) -> list[Row | Fault]:
    """Take the first rows of a file: as many as columns are chosen by, one if they are known."""
    known = not request.roles or not all(name.isdecimal() for name in request.fields)
    taken: list[Row | Fault] = []
    size = 0
    for row in islice(rows, _SAMPLED):
        taken.append(row)
        if not isinstance(row, Fault):
            size += sum(map(len, map(str, row[1])))
            filled = any(str(cell).strip() for cell in row[1])
            if (known and filled) or size > _SAMPLED_CHARACTERS:
                break
    return taken


def choose_columns(rows: Sequence[Sequence[str]], request: Request) -> ColumnChoice:
    """Choose columns by the first rows of a file, the header among them if there is one."""
    first, rest = rows[0], rows[1:]
    names = [cell.strip() for cell in first]
    usual = find_usual_names([name.lower() for name in names], request)
    header = bool(usual) or is_header(names, rest, request)
    columns = describe_columns(names if header else [], rest if header else rows)
    if usual:
        lower = [name.lower() for name in names]
        return ColumnChoice([lower.index(name) for name in usual], columns, header)
    return choose_by_content(columns, request, header=header)


def choose_by_content(columns: list[Column], request: Request, *, header: bool) -> ColumnChoice:
    """Choose by names and contents; what is not clear is a doubt, not a guess."""
    expected = request.expected or len(columns)
    in_order = list(range(expected))
    roles = request.roles
    if len(columns) < expected:
        doubt = f"Column {expected - 1} (from 0) is needed; the row has {len(columns)} columns."
        return ColumnChoice([], columns, header, doubt)
    if not roles or (not header and _suits(columns[:expected], roles)):
        return ColumnChoice(in_order, columns, header)
    chosen = _choose(columns, roles)
    if isinstance(chosen, str) and len(columns) > expected:
        return ColumnChoice([], columns, header, chosen)
    return ColumnChoice(
        in_order if isinstance(chosen, str) else chosen, columns, header, guessed=True
    )


def describe_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Describe what each column holds; rows of another width are left out."""
    width = len(names) or len(rows[0])
    whole = [row for row in rows if len(row) == width]
    return [
        _describe(at, names[at] if names else f"column {at}", [row[at] for row in whole])
        for at in range(width)
    ]


def _describe(at: int, name: str, cells: list[str]) -> Column:
    filled = [text for cell in cells if (text := cell.strip())]
    length = fmean(map(len, filled)) if filled else 0.0
    return Column(at, name, _find_kind(filled, length), length)


def _find_kind(filled: list[str], length: float) -> Kind:
    different = len(set(filled))
    if not filled:
        return "empty"
    if _share(_DATE, filled) > _MOST:
        return "date"
    words = fmean(map(_count_words, filled))
    repeated = different <= max(2, min(100, len(filled) / 3)) and len(filled) > 2
    if repeated and length <= 40 and words < 4:
        return "constant" if different == 1 else "label"
    if _share(_NUMBER, filled) > _MOST:
        integers = different == len(filled) and all(cell.isdecimal() for cell in filled)
        return "id" if integers else "number"
    if words < 1.1:
        unique = different > _MOST * len(filled) and _share(_CODE, filled) > 0.5
        return "id" if unique else "word"
    return "text"


def _count_words(text: str) -> float:
    return float(max(len(text.split()), len(_CJK.findall(text)) / 2))


def _share(pattern: re.Pattern[str], cells: list[str]) -> float:
    return sum(pattern.fullmatch(cell) is not None for cell in cells) / len(cells)


def is_header(names: list[str], rows: Sequence[Sequence[str]], request: Request) -> bool:
    """Whether a first row names columns: no cell of it is like those below."""
    said = [name for name in names if name]
    if not request.roles or not said or not rows or len(set(said)) < len(said):
        return False
    if any(len(name) > _LONGEST_NAME or _DATE.fullmatch(name) for name in said):
        return False
    if all(name == str(at) or not name for at, name in enumerate(names)):
        return len(names) > 1
    if any(_NUMBER.fullmatch(name) for name in said):
        return False
    known = sum(map(is_known, said))
    if known == len(said):
        return True
    return _is_unlike(names, rows) and (len(rows) > 2 or known > 0)


def _is_unlike(names: list[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is unlike those below: no known label, and something of its own."""
    columns = [column for column in describe_columns(names, rows) if column.name]
    texts = [[row[column.at].strip() for row in rows if len(row) > column.at] for column in columns]
    cells = dict(zip(columns, ([text for text in own if text] for own in texts), strict=True))
    if any(column.kind == "label" and column.name in own for column, own in cells.items()):
        return False
    return any(_differs(column, own) for column, own in cells.items())


def _differs(column: Column, cells: list[str]) -> bool:
    """Whether a name is unlike the cells of its column."""
    if column.kind in ("date", "number"):
        return True
    if column.kind == "id":
        return not any(character.isdigit() for character in column.name)
    if column.kind == "label":
        counts = Counter(cells)
        once = sum(count == 1 for count in counts.values())
        return all(_NUMBER.fullmatch(cell) for cell in counts) or once <= _ONCE * len(cells)
    return False


def _suits(columns: Sequence[Column], roles: Sequence[str]) -> bool:
    """Whether columns in this order may hold what the task reads."""
    return all(
        column.kind in (("label", "word", "number", "constant") if role == LABEL else _TEXTS)
        or (role == LABEL and column.kind == "text" and column.length < 20)
        for column, role in zip(columns, roles, strict=True)
    )


_TEXTS = ("text", "word")


def _choose(columns: list[Column], roles: tuple[str, ...]) -> list[int] | str:
    texts = [role for role in roles if role != LABEL]
    chosen = _choose_one_text(columns) if len(texts) == 1 else _choose_texts(columns, texts)
    if isinstance(chosen, str) or LABEL not in roles:
        return chosen
    label = _choose_label([column for column in columns if column.at not in chosen])
    return label if isinstance(label, str) else [*chosen, label]


def _choose_one_text(columns: list[Column]) -> list[int] | str:
    texts = [column for column in columns if column.kind == "text"]
    named = [column for column in texts if is_name_of("text", column.name)]
    found = texts or [column for column in columns if column.kind == "word"]
    if not found:
        return "no column holds texts."
    best, *others = sorted(named or found, key=lambda column: -column.length)
    longer = [column for column in texts if named and column.length > 2 * best.length]
    alike = [column for column in others if column.length > best.length / 2]
    for rival in (longer or alike)[:1]:
        first, second = sorted((best, rival))
        return f"{first.name!r} and {second.name!r} both look like texts."
    return [best.at]


def _choose_texts(columns: list[Column], roles: list[str]) -> list[int] | str:
    texts = [column for column in columns if column.kind == "text"]
    if len(texts) > len(roles):
        texts = [column for column in texts if is_name_of("text", column.name)] or texts
    elif len(texts) < len(roles):
        texts = [column for column in columns if column.kind in _TEXTS]
    if len(texts) != len(roles):
        several = ", ".join(repr(column.name) for column in texts) or "none"
        return f"{len(roles)} columns of texts are needed; these look like texts: {several}."
    if "summary" in roles:
        texts.sort(key=lambda column: -column.length)
    return [column.at for column in texts]


def _choose_label(columns: list[Column]) -> int | str:
    labels = [column for column in columns if column.kind == "label"]
    named = [column for column in columns if is_name_of(LABEL, column.name)]
    several = [column for column in labels if column in named] or labels or named
    if not several:
        return "no column holds labels, which are few and repeated."
    if len(several) > 1:
        *names, last = [repr(column.name) for column in several]
        both = "both" if len(names) == 1 else "all"
        return f"{', '.join(names)} and {last} {both} look like labels."
    return several[0].at
