"""Tables: tab-separated (no quoting) and comma-separated (quoted as RFC 4180 has it).

If columns are named, the first row is a header. If none are given, a first row with usual names is
a header; otherwise the first columns are read.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.data.formats.column_names import find_usual_names
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, Found, Request, make_blank_note, make_fault, make_record

_LARGEST_CELL = 1 << 24


class _Row(NamedTuple):
    number: int
    cells: list[str]


_Rows = Iterator[_Row | Fault]


def read_tsv(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read tab-separated lines."""
    for path in files:
        yield from _read_records(path, _read_tsv_rows(path), request)


def read_csv(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read comma-separated rows; semicolons and tabs are detected."""
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    for path in files:
        yield from _read_records(path, _read_csv_rows(path, request), request)


def _read_records(path: Path, rows: _Rows, request: Request) -> Iterator[Found]:
    columns: list[int] = []
    width = group = 0
    # With numbered columns, rows may have more columns at their end.
    numbered = bool(request.fields) and all(name.isdecimal() for name in request.fields)
    for row in rows:
        if isinstance(row, Fault):
            yield row
        elif not any(cell.strip() for cell in row.cells):
            yield make_blank_note(path, row.number)
        elif not width:
            width = len(row.cells)
            chosen = _choose_columns(path, row, request)
            if isinstance(chosen, Fault):
                yield chosen
                return
            columns, header = chosen
            group = _find_group_column(row, request.group, header=header)
            if not header:
                yield _make_record(path, row, columns, group)
        elif len(row.cells) != width and not (numbered and max(columns) < len(row.cells)):
            problem = f"The row has {len(row.cells)} columns; the first row has {width}."
            yield make_fault("columns", path, row.number, problem)
        else:
            yield _make_record(path, row, columns, group)


def _make_record(path: Path, row: _Row, columns: list[int], group: int) -> Found:
    grouped = row.cells[group] if group < len(row.cells) else ""
    return make_record(tuple(row.cells[at] for at in columns), path, row.number, group=grouped)


def _find_group_column(first: _Row, name: str, *, header: bool) -> int:
    """Return the index of the group column; past the end of the row if there is none."""
    names = [cell.strip() for cell in first.cells] if header else []
    if name in names:
        return names.index(name)
    return int(name) if name.isdecimal() else len(first.cells)


def _choose_columns(path: Path, first: _Row, request: Request) -> tuple[list[int], bool] | Fault:
    """Choose the columns to read; return also whether the first row is a header."""
    width, wanted = len(first.cells), request.fields
    if all(name.isdecimal() for name in wanted):
        names = [cell.strip().lower() for cell in first.cells]
        if not wanted and (usual := find_usual_names(names, request)):
            return [names.index(name) for name in usual], True
        columns = [int(name) for name in wanted] or list(range(request.expected or width))
        if max(columns) < width:
            return columns, False
        needed = f"Column {max(columns)} (from 0) is needed; the row has {width} columns."
        return _make_fatal_fault("columns", path, first.number, needed)
    header = [cell.strip() for cell in first.cells]
    if missing := [name for name in wanted if name not in header]:
        has = ", ".join(header)
        problem = f"No column {missing[0]!r} among {has}."
        return _make_fatal_fault("missing-field", path, first.number, problem)
    return [header.index(name) for name in wanted], True


def _make_fatal_fault(kind: str, path: Path, line: int, problem: str) -> Fault:
    remedy = "Name the columns in data.fields, or number them from 0."
    return Fault(kind, "fatal", str(path), line, problem, remedy)


def _read_tsv_rows(path: Path) -> _Rows:
    for line in iterate_lines(path):
        yield line if isinstance(line, Fault) else _Row(line.number, line.text.split("\t"))


def _read_csv_rows(path: Path, request: Request) -> _Rows:
    source = _CsvLines(path)
    delimiter = _detect_delimiter(source, request)
    if delimiter == "\t":
        yield from _read_tsv_rows(path)
        return
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
            yield _Row(start, cells)


def _describe_csv_error(error: csv.Error) -> str:
    if "unexpected end of data" in str(error) or "field limit" in str(error):
        return "A quote is opened in this row and never closed."
    return f"The row is not well-formed: {error}."


def _detect_delimiter(source: "_CsvLines", request: Request) -> str:
    first = source.peek()
    numbers = [int(name) + 1 for name in request.fields if name.isdecimal()]
    wanted = max(request.expected or 2, 2, *numbers)
    commas, semicolons = (len(next(csv.reader([first], delimiter=mark), [])) for mark in ",;")
    if commas < wanted:
        for mark, cells in ((";", semicolons), ("\t", first.count("\t") + 1)):
            if cells >= wanted:
                return mark
    return ","


class _CsvLines:
    """Lines for the csv module; faults, which it cannot pass on, are kept aside."""

    def __init__(self, path: Path) -> None:
        self._lines = iterate_lines(path)
        self._faults: list[Fault] = []
        self._peeked: str | None = None
        self.number = 0

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        self.number += 1
        if self._peeked is not None:
            text, self._peeked = self._peeked, None
            return text
        for line in self._lines:
            if isinstance(line, TextLine):
                return line.text + "\n"
            self._faults.append(line)
            if line.severity != "fatal":
                return "\n"
        raise StopIteration

    def peek(self) -> str:
        """Return the first line without consuming it."""
        self._peeked = next(self, "")
        self.number = 0
        return self._peeked

    def take_faults(self) -> list[Fault]:
        """Return the faults since the last call."""
        faults, self._faults = self._faults, []
        return faults
