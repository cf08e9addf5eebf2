"""The lines of a text file, one at a time, each with its number.

A line ends with a line feed, or a carriage return and a line feed. The other line separators of
Unicode are ordinary characters: as line ends they would misalign parallel files.
"""

import os
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import BROKEN, open_bytes
from regard.data.record import Fault, make_fault

LONGEST_LINE = 1 << 24
"""At most this many bytes per line, so that memory is bounded for any file."""

_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")


class TextLine(NamedTuple):
    """A line without its line end; numbers count from 1."""

    number: int
    text: str


def iterate_lines(path: Path) -> Iterator[TextLine | Fault]:
    """Read a file line by line; a line that is not text is a fault, and reading goes on."""
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(_iterate_raw_lines(file), start=1):
                yield _decode_line(path, number, raw)
                if number == 1 and raw.startswith(_OTHER_BOMS):
                    return
    except BROKEN as error:
        yield _make_fatal_fault(
            "compression", path, number + 1, f"The compressed data is broken: {error}."
        )
    except OSError as error:
        yield make_unreadable_fault(path, error)
    else:
        if not number:
            yield _make_fatal_fault("empty-file", path, 0, "The file is empty.")


def read_document(path: Path) -> tuple[str, int] | Fault:
    """Read a whole file of at most ``LONGEST_LINE`` characters: its text and first line number."""
    found: list[str] = []
    size = 0
    for line in iterate_lines(path):
        if isinstance(line, Fault):
            return line
        size += len(line.text) + 1
        if size > LONGEST_LINE:
            return make_fault(
                "long", path, line.number, f"The file has over {LONGEST_LINE:,} characters."
            )
        found.append(line.text)
    return "\n".join(found), 1


def read_to_end(path: Path) -> str | Fault:
    """Read a file of any size as one text, line ends unchanged."""
    try:
        with open_bytes(path) as file:
            raw = file.read()
    except BROKEN as error:
        return _make_fatal_fault("compression", path, 0, f"The compressed data is broken: {error}.")
    except OSError as error:
        return make_unreadable_fault(path, error)
    if not raw:
        return _make_fatal_fault("empty-file", path, 0, "The file is empty.")
    if raw.startswith(_OTHER_BOMS):
        return _make_fatal_fault("encoding", path, 1, "Text must be UTF-8; this file is UTF-16.")
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + len(raw) - len(error.object)
        line, begin = raw.count(b"\n", 0, at) + 1, raw.rfind(b"\n", 0, at) + 1
        where = f"byte 0x{raw[at]:02X} at column {at - begin + 1}"
        return make_fault("encoding", path, line, f"Text must be UTF-8; {where} is not.")


def _iterate_raw_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Read lines as bytes; of an overlong line only the first ``LONGEST_LINE + 1``."""
    while raw := file.readline(LONGEST_LINE + 1):
        yield raw
        rest = raw
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE + 1)


def _decode_line(path: Path, number: int, raw: bytes) -> TextLine | Fault:
    if number == 1:
        if raw.startswith(_OTHER_BOMS):
            return _make_fatal_fault(
                "encoding", path, 1, "Text must be UTF-8; this file is UTF-16."
            )
        raw = raw.removeprefix(_BOM)
    if len(raw) > LONGEST_LINE:
        return make_fault(
            "overlong", path, number, f"The line has more than {LONGEST_LINE:,} bytes."
        )
    if b"\0" in raw:
        return make_fault("nul", path, number, "The line contains a NUL character.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte 0x{raw[error.start]:02X} at column {error.start + 1}"
        return make_fault("encoding", path, number, f"Text must be UTF-8; {where} is not.")
    return TextLine(number, text.removesuffix("\n").removesuffix("\r"))


def _make_fatal_fault(kind: str, path: Path, line: int, problem: str) -> Fault:
    remedies = {
        "compression": "Download or compress the file again.",
        "empty-file": "Remove the file from the recipe, or add text to it.",
        "encoding": f"Convert it: iconv -f UTF-16 -t UTF-8 '{path}'.",
    }
    return Fault(kind, "fatal", str(path), line, problem, remedies[kind])


def make_unreadable_fault(path: Path, error: OSError) -> Fault:
    """Describe why a file cannot be opened."""
    if isinstance(error, FileNotFoundError):
        home = "a recipe's own folder" if path.is_absolute() else Path.cwd()
        remedy = f"Check the spelling; paths are relative to {home}."
        return Fault("missing-file", "fatal", str(path), 0, "There is no such file.", remedy)
    problem = f"The file cannot be read: {os.strerror(error.errno or 0)}."
    return Fault("missing-file", "fatal", str(path), 0, problem, "Name a readable file.")
