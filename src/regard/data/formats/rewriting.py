"""Tables read row by row and written again with more columns, in the same dialect."""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

from regard.data.compression import open_bytes, plain_name
from regard.data.encoding import detect_encoding
from regard.data.formats.columns import ColumnChoice, take_sample
from regard.data.formats.jsonl import JsonEntry, choose_fields, get_text, read_entries
from regard.data.formats.table import (
    Layout,
    Row,
    Rows,
    lay_out,
    make_columns_fault,
    open_csv,
    read_tsv_rows,
)
from regard.data.lines import make_unreadable_fault
from regard.data.record import Fault, Request
from regard.data.source import make_error

ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@runtime_checkable
class Table(Protocol):
    """Rows to answer; every text that is read is to be followed by one ``write``."""

    choice: ColumnChoice
    encoding: str

    def read(self) -> Iterator[tuple[str, ...]]:
        """Yield the texts of each row."""
        ...

    def begin(self, file: TextIO, names: Sequence[str]) -> None:
        """Write the header with the names of more columns."""
        ...

    def write(self, file: TextIO, values: Sequence[str]) -> None:
        """Write the next row that was read, with more values."""
        ...


def is_table(path: Path) -> bool:
    """Whether a file's name is that of a table."""
    return plain_name(path).suffix.lower() in ENDINGS


def open_table(path: Path, request: Request) -> Table:
    """Open a table, its columns and encoding detected."""
    try:
        request = request._replace(encoding=detect_encoding(path))
    except OSError as error:
        raise make_error(make_unreadable_fault(path, error)) from None
    format = ENDINGS[plain_name(path).suffix.lower()]
    return Objects(path, request) if format == "jsonl" else Cells(path, request, format)


class Cells:
    """A table of cells between delimiters.

    Args:
        path: The file.
        request: The texts to read.
        format: ``csv`` or ``tsv``.

    """

    def __init__(self, path: Path, request: Request, format: str) -> None:
        rows: Rows = read_tsv_rows(path, request)
        delimiter = ""
        if format == "csv":
            rows, delimiter = open_csv(path, request)
        self.delimiter = delimiter or "\t"
        first = take_sample(rows, request)
        for row in first:
            _refuse(row)
        sample = [row for row in first if isinstance(row, Row) and not row.blank]
        found = lay_out(path, sample, request, guess=True) if sample else _make_empty(path)
        if isinstance(found, Fault):
            raise make_error(found)
        self._layout: Layout = found
        self.choice, self.encoding = found.choice, request.encoding
        self._path, self._rows, self._quoted = path, chain(first, rows), bool(delimiter)
        self._waiting: deque[Row] = deque()
        self._header: Row | None = None
        with open_bytes(path) as file:
            start = file.readline(1 << 16)
        self._end = "\r\n" if start.rstrip(b"\0").endswith((b"\r\n", b"\r\0\n")) else "\n"
        cells = (
            start.decode(request.encoding, "replace").strip().strip("\ufeff").split(self.delimiter)
        )
        self._all_quoted = all(cell[:1] == cell[-1:] == '"' for cell in cells)
        if start.startswith(b"\xef\xbb\xbf"):
            self.encoding = "utf-8-sig"

    def read(self) -> Iterator[tuple[str, ...]]:
        for row in self._rows:
            _refuse(row)
            if not isinstance(row, Row):
                continue
            if self.choice.header and self._header is None and not row.blank:
                self._header = row
                continue
            if not row.blank and (problem := self._layout.describe_fault(row.cells)):
                raise make_error(_make_fault(self._path, row.number, problem))
            self._waiting.append(row)
            yield tuple("" if row.blank else row.cells[at] for at in self.choice.chosen)

    def begin(self, file: TextIO, names: Sequence[str]) -> None:
        if self.choice.header:
            known = [column.name for column in self.choice.columns]
            self._write(file, [*known, *make_free(names, known)])

    def write(self, file: TextIO, values: Sequence[str]) -> None:
        row = self._waiting.popleft()
        self._write(file, row.cells if row.blank else [*row.cells, *values])

    def _write(self, file: TextIO, cells: Sequence[str]) -> None:
        if self._quoted:
            csv.writer(
                file,
                delimiter=self.delimiter,
                lineterminator=self._end,
                quoting=csv.QUOTE_ALL if self._all_quoted else csv.QUOTE_MINIMAL,
            ).writerow(cells)
        else:
            file.write("\t".join(cells) + self._end)


class Objects:
    """A file of JSON objects, one per line.

    Args:
        path: The file.
        request: The texts to read.

    """

    def __init__(self, path: Path, request: Request) -> None:
        entries = read_entries(path, request)
        first = take_sample(entries, request)
        for entry in first:
            _refuse(entry)
        values = [entry.value for entry in first if isinstance(entry, JsonEntry)]
        if not values:
            raise make_error(_make_empty(path))
        self.choice = choose_fields(values, request)
        if request.fields:
            known = [column.name for column in self.choice.columns]
            missing = [name for name in request.fields if name not in known]
            doubt = f"There is no field {' and no field '.join(map(repr, missing))}."
            self.choice = self.choice._replace(doubt=doubt if missing else "", guessed=False)
        if self.choice.doubt:
            raise make_error(make_columns_fault(path, 1, self.choice, request))
        self.encoding = request.encoding
        self._path, self._entries = path, chain(first, entries)
        self._names = request.fields or self.choice.fields
        self._waiting: deque[Mapping[str, object]] = deque()
        self._more: list[str] = []

    def read(self) -> Iterator[tuple[str, ...]]:
        for entry in self._entries:
            _refuse(entry)
            if isinstance(entry, JsonEntry):
                texts = [get_text(entry.value, name, "") for name in self._names]
                if None in texts:
                    problem = f"The object has no text in {' and '.join(self._names)}."
                    raise make_error(_make_fault(self._path, entry.number, problem))
                self._waiting.append(entry.value)
                yield tuple(text or "" for text in texts)

    def begin(self, file: TextIO, names: Sequence[str]) -> None:
        self._more = make_free(names, [column.name for column in self.choice.columns])

    def write(self, file: TextIO, values: Sequence[str]) -> None:
        more = dict(zip(self._more, values, strict=True))
        row = {**self._waiting.popleft(), **more}
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def make_free(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return names that no column has yet: ``answer``, else ``answer_2``."""
    found = []
    for name in names:
        free, number = name, 2
        while free in known:
            free, number = f"{name}_{number}", number + 1
        found.append(free)
    return found


def _refuse(found: object) -> None:
    if isinstance(found, Fault) and found.severity != "note":
        raise make_error(found)


def _make_fault(path: Path, line: int, problem: str) -> Fault:
    return Fault("columns", "bad", str(path), line, problem, "Correct the row.")


def _make_empty(path: Path) -> Fault:
    return Fault("empty-file", "fatal", str(path), 0, "The file has no rows.", "Name another file.")
