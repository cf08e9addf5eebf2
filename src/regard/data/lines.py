"""The lines of a text file, one at a time, each with its number.

A line ends with a line feed (or a carriage return and a line feed) and with nothing else: the
other line ends that Unicode knows would tear parallel files apart.
"""

import os
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import BROKEN, open_bytes
from regard.data.record import Fault, bad

LONGEST_LINE = 1 << 24
"""The most bytes one line may have; memory stays bounded whatever the file is."""

_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """A line without its end, counted from 1."""

    number: int
    text: str


def lines(path: Path) -> Iterator[Line | Fault]:
    """Read a file line by line; a line that is no text is a fault, and reading goes on."""
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(_raw_lines(file), start=1):
                yield _line(path, number, raw)
                if number == 1 and raw.startswith(_OTHER_BOMS):
                    return
    except BROKEN as error:
        yield _fatal("compression", path, number + 1, f"The compressed data is broken: {error}.")
    except OSError as error:
        yield unreadable(path, error)
    else:
        if not number:
            yield _fatal("empty-file", path, 0, "The file is empty.")


def document(path: Path) -> tuple[str, int] | Fault:
    """Read a whole small file (its text and first line); at most ``LONGEST_LINE`` bytes."""
    found: list[str] = []
    size = 0
    for line in lines(path):
        if isinstance(line, Fault):
            return line
        size += len(line.text) + 1
        if size > LONGEST_LINE:
            return bad("long", path, line.number, f"The file has over {LONGEST_LINE:,} characters.")
        found.append(line.text)
    return "\n".join(found), 1


def whole(path: Path) -> str | Fault:
    """Read a file of any size to its last character, its line ends as they are."""
    try:
        with open_bytes(path) as file:
            raw = file.read()
    except BROKEN as error:
        return _fatal("compression", path, 0, f"The compressed data is broken: {error}.")
    except OSError as error:
        return unreadable(path, error)
    if not raw:
        return _fatal("empty-file", path, 0, "The file is empty.")
    if raw.startswith(_OTHER_BOMS):
        return _fatal("encoding", path, 1, "Text must be UTF-8; this file is UTF-16.")
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + len(raw) - len(error.object)
        line, begin = raw.count(b"\n", 0, at) + 1, raw.rfind(b"\n", 0, at) + 1
        where = f"byte 0x{raw[at]:02X} at column {at - begin + 1}"
        return bad("encoding", path, line, f"Text must be UTF-8; {where} is not.")


def _raw_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Lines as bytes; of an overlong one only the first ``LONGEST_LINE + 1``."""
    while raw := file.readline(LONGEST_LINE + 1):
        yield raw
        rest = raw
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE + 1)


def _line(path: Path, number: int, raw: bytes) -> Line | Fault:
    if number == 1:
        if raw.startswith(_OTHER_BOMS):
            return _fatal("encoding", path, 1, "Text must be UTF-8; this file is UTF-16.")
        raw = raw.removeprefix(_BOM)
    if len(raw) > LONGEST_LINE:
        return bad("overlong", path, number, f"The line has more than {LONGEST_LINE:,} bytes.")
    if b"\0" in raw:
        return bad("nul", path, number, "The line holds a NUL, which no text has.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte 0x{raw[error.start]:02X} at column {error.start + 1}"
        return bad("encoding", path, number, f"Text must be UTF-8; {where} is not.")
    return Line(number, text.removesuffix("\n").removesuffix("\r"))


def _fatal(kind: str, path: Path, line: int, problem: str) -> Fault:
    remedies = {
        "compression": "Fetch or compress the file again.",
        "empty-file": "Leave the file out, or put text into it.",
        "encoding": f"Convert it: iconv -f UTF-16 -t UTF-8 '{path}'.",
    }
    return Fault(kind, "fatal", str(path), line, problem, remedies[kind])


def unreadable(path: Path, error: OSError) -> Fault:
    """Say why a file of any format cannot be read."""
    if isinstance(error, FileNotFoundError):
        home = "a recipe's own folder" if path.is_absolute() else Path.cwd()
        remedy = f"Check the spelling; paths are taken from {home}."
        return Fault("missing-file", "fatal", str(path), 0, "There is no such file.", remedy)
    problem = f"The file cannot be read: {os.strerror(error.errno or 0)}."
    return Fault("missing-file", "fatal", str(path), 0, problem, "Name a file that can be read.")
