"""Tables: tab-separated (no quoting) and comma-separated (quoted as RFC 4180 has it).

In a comma-separated file with tabs, quotes enclose cells only if they do so in the whole file.

Columns that are named stand in the first row. If none are given, they are chosen by usual names,
else by what they hold (:mod:`regard.data.formats.columns`); what is not clear is refused.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from regard.data.formats.columns import (
    ColumnChoice,
    choose_columns,
    describe_columns,
    is_header,
    take_sample,
)
from regard.data.formats.dialect import detect_delimiter, is_quoted, read_hint
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import (
    Fault,
    Found,
    Record,
    Request,
    make_blank_note,
    make_fault,
    make_record,
)

_LARGEST_CELL = 1 << 24
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")


class Row(NamedTuple):
    """A row and the number of its first line."""

    number: int
    cells: list[str]

    @property
    def blank(self) -> bool:
        """Whether no cell holds anything."""
        return not any(map(str.strip, self.cells))


Rows = Iterator[Row | Fault]


class Layout(NamedTuple):
    """Where a table has what a task reads."""

    choice: ColumnChoice
    width: int
    group: int
    """Index of the group column; past the end of the row if there is none."""
    numbered: bool
    """With numbered columns, rows may have more columns at their end."""
    roles: tuple[str, ...]

    def describe_fault(self, cells: Sequence[str]) -> str:
        """Say why a row does not fit; nothing if it does."""
        if len(cells) == self.width or (
            self.numbered and max(self.choice.chosen, default=0) < len(cells)
        ):
            return ""
        columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        return f"The row has {columns}; the first row has {self.width}."


def read_tsv(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read tab-separated lines."""
    for path in files:
        yield from _read_records(path, read_tsv_rows(path, request), request)


def read_csv(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read comma-separated rows; semicolons, tabs and bars are detected."""
    for path in files:
        rows, _ = open_csv(path, request)
        yield from _read_records(path, rows, request)


def lay_out(
    path: Path, rows: Sequence[Row], request: Request, *, guess: bool = False
) -> Layout | Fault:
    """Find the columns to read by the first rows of a table, none of them blank."""
    cells = [row.cells for row in rows]
    choice = _find_named(cells, request) if request.fields else choose_columns(cells, request)
    if choice.doubt or (choice.guessed and not guess):
        return make_columns_fault(path, rows[0].number, choice, request)
    names = [column.name for column in choice.columns] if choice.header else []
    width, group = len(cells[0]), request.group
    at = int(group) if group.isdecimal() else width
    numbered = bool(request.fields) and _are_numbers(request.fields)
    at = names.index(group) if group in names else at
    return Layout(choice, width, at, numbered, request.roles)


def make_columns_fault(path: Path, line: int, choice: ColumnChoice, request: Request) -> Fault:
    """Make the fault of a file whose columns are not clear, with all of them."""
    wanted = " and ".join(request.roles) or f"the {request.expected} fields"
    doubt = choice.doubt or "their names are not usual ones."
    problem = doubt if request.fields else f"It is not clear which columns hold {wanted}: {doubt}"
    named = [repr(column.name) for column in choice.columns]
    columns = named if request.fields else map(str, choice.columns)
    problem += f" The columns are {', '.join(columns)}."
    order = f" in the order {', '.join(request.roles)}" if len(request.roles) > 1 else ""
    remedy = f"Name columns{order} with --fields or data.fields, or number them from 0."
    if choice.guessed:
        names = ", ".join(f'"{name}"' for name in choice.fields)
        remedy = (
            f'If {names} is right, write --fields "{",".join(choice.fields)}", or data.fields = '
            f"[{names}] in the recipe; otherwise name others{order}."
        )
    return Fault("columns", "fatal", str(path), line, problem, remedy)


def sample_tsv(path: Path, request: Request) -> ColumnChoice | Fault:
    """Choose columns by the first lines of a tab-separated file."""
    return _choose(path, read_tsv_rows(path, request), request)


def sample_csv(path: Path, request: Request) -> ColumnChoice | Fault:
    """Choose columns by the first rows of a comma-separated file."""
    rows, _ = open_csv(path, request)
    return _choose(path, rows, request)


def _choose(path: Path, rows: Rows, request: Request) -> ColumnChoice | Fault:
    first = take_sample(rows, request)
    sample = [row for row in first if isinstance(row, Row) and not row.blank]
    if not sample:
        faults = (row for row in first if isinstance(row, Fault))
        return next(faults, make_fault("blank", path, 0, "The file has no rows."))
    layout = lay_out(path, sample, request, guess=True)
    return layout if isinstance(layout, Fault) else layout.choice


def open_csv(path: Path, request: Request) -> tuple[Rows, str]:
    """Open a file as rows; return also the delimiter, "" for tabs without quoting."""
    delimiter = detect_delimiter(path, request)
    if delimiter == "\t" and not is_quoted(path, request.encoding):
        return read_tsv_rows(path, request), ""
    return read_csv_rows(path, request, delimiter), delimiter


def read_tsv_rows(path: Path, request: Request) -> Rows:
    """Read tab-separated lines as rows."""
    for line in iterate_lines(path, request.encoding):
        yield line if isinstance(line, Fault) else Row(line.number, line.text.split("\t"))


def read_csv_rows(path: Path, request: Request, delimiter: str) -> Rows:
    """Read rows whose cells may be quoted."""
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    source = _CsvLines(path, request.encoding)
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        start = source.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = _describe_csv_error(error)
            yield from source.take_faults() or [make_fault("quotes", path, start, problem)]
            continue
        faults = source.take_faults()
        yield from faults
        if cells is None:
            return
        if not faults:
            yield Row(start, cells)


def _read_records(path: Path, rows: Rows, request: Request) -> Iterator[Found]:
    first = take_sample(rows, request)
    sample = [row for row in first if isinstance(row, Row) and not row.blank]
    layout = lay_out(path, sample, request) if sample else None
    begun = False
    for row in chain(first, rows):
        if isinstance(row, Fault):
            yield row
        elif row.blank:
            yield make_blank_note(path, row.number)
        elif not isinstance(layout, Layout):
            yield from [layout] if layout else []
            return
        elif layout.choice.header and not begun:
            begun = True
        elif problem := layout.describe_fault(row.cells):
            yield make_fault("columns", path, row.number, problem)
        else:
            begun = True
            found = _make_record(path, row, layout)
            yield from _read_score(found) if request.scores else [found]


def _make_record(path: Path, row: Row, layout: Layout) -> Found:
    grouped = row.cells[layout.group] if layout.group < len(row.cells) else ""
    fields = tuple(row.cells[at] for at in layout.choice.chosen)
    return make_record(fields, path, row.number, group=grouped, roles=layout.roles)


def _read_score(found: Found) -> Iterator[Found]:
    """Read the decimal comma of a score as a point, and note it."""
    if isinstance(found, Record) and _DECIMAL_COMMA.fullmatch(found.fields[-1].strip()):
        *texts, written = found.fields
        problem = f"The number {written.strip()} has a decimal comma."
        place = (found.file, found.line, problem, "It is read as a decimal point.")
        yield Fault("decimal-comma", "note", *place)
        found = found._replace(fields=(*texts, written.replace(",", ".")))
    yield found


def _find_named(rows: Sequence[Sequence[str]], request: Request) -> ColumnChoice:
    """Find the columns that the request names or numbers."""
    wanted = request.fields
    names = [cell.strip() for cell in rows[0]]
    if _are_numbers(wanted):
        header = is_header(names, rows[1:], request)
        columns = describe_columns(names if header else [], rows[header:])
        chosen = [int(name) for name in wanted]
        doubt = f"Column {max(chosen)} (from 0) is needed; the row has {len(names)} columns."
        return ColumnChoice(chosen, columns, header, doubt if max(chosen) >= len(names) else "")
    columns = describe_columns(names, rows[1:] or rows)
    if missing := [name for name in wanted if name not in names]:
        doubt = f"There is no column {' and no column '.join(map(repr, missing))}."
        return ColumnChoice([], columns, True, doubt)
    return ColumnChoice([names.index(name) for name in wanted], columns, True)


def _are_numbers(names: Sequence[str]) -> bool:
    return all(name.isdecimal() for name in names)


def _describe_csv_error(error: csv.Error) -> str:
    if "unexpected end of data" in str(error) or "field limit" in str(error):
        return "A quote is opened in this row and never closed."
    return f"The row is not well-formed: {error}."


class _CsvLines:
    """Lines for the csv module; faults, which it cannot pass on, are kept aside."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._lines = iterate_lines(path, encoding)
        self._faults: list[Fault] = []
        self.number = 0

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        self.number += 1
        for line in self._lines:
            if isinstance(line, TextLine):
                return "\n" if self.number == 1 and read_hint(line.text) else line.text + "\n"
            self._faults.append(line)
            if line.severity != "fatal":
                return "\n"
        raise StopIteration

    def take_faults(self) -> list[Fault]:
        """Return the faults since the last call."""
        faults, self._faults = self._faults, []
        return faults
