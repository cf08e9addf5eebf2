"""How a delimited file separates its cells, found by its first lines."""

import csv
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Request

DELIMITERS = ",;\t|"
_HINT = re.compile(r"sep=(.)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_LINES = 50
_MOST_LINES = 20_000


def detect_delimiter(path: Path, request: Request) -> str:
    """Return the mark that cuts the first lines into equally many cells, enough for the task."""
    found = islice(iterate_lines(path, request.encoding), _LINES)
    lines = [line.text + "\n" for line in found if isinstance(line, TextLine)]
    if lines and (hint := read_hint(lines[0])):
        return hint
    numbers = [int(name) + 1 for name in request.fields if name.isdecimal()]
    wanted = max(request.expected or 2, 2, *numbers)
    names = [name for name in request.fields if not name.isdecimal()]
    plain = [_DECIMAL_COMMA.sub(".", line) for line in lines]
    for read in (plain, lines):
        fits = [_score(read, mark, wanted, names) for mark in DELIMITERS]
        if max(fits) > 0:
            return DELIMITERS[fits.index(max(fits))]
    return ","


def is_quoted(path: Path, encoding: str) -> bool:
    """Whether quotes in a tab-separated file enclose cells; many such files have plain ones."""
    found = islice(iterate_lines(path, encoding), _MOST_LINES)
    lines = [line.text + "\n" for line in found if isinstance(line, TextLine)]
    if not any(line.startswith('"') or '\t"' in line for line in lines):
        return False
    try:
        for _ in csv.reader(lines, delimiter="\t", strict=True):
            pass
    except csv.Error:
        return False
    return True


def read_hint(line: str) -> str:
    """Return the delimiter that a first line such as ``sep=;`` names; Excel writes it."""
    found = _HINT.fullmatch(line.rstrip("\r\n"))
    return found[1] if found else ""


def _score(lines: Sequence[str], mark: str, wanted: int, names: Collection[str]) -> float:
    """Share of the rows that are as wide as the first; above 1 if that one has the names."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a row that cannot be read is reported when the file is
        rows.extend(row for row in csv.reader(lines, delimiter=mark) if any(map(str.strip, row)))
    if not rows or len(rows[0]) < 2:
        return 0.0
    width = len(rows[0])
    if names and all(name in map(str.strip, rows[0]) for name in names):
        return 2.0
    share = sum(len(row) == width for row in rows) / len(rows)
    return share if width >= wanted else share / 1000
