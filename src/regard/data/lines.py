"""The lines of a text file, one at a time, each with its number.

A line ends with a line feed, or a carriage return and a line feed. The other line separators of
Unicode are ordinary characters: as line ends they would misalign parallel files.
"""

import os
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import BROKEN, NotAFile
from regard.data.encoding import UTF_16_MARKS, UTF_32_MARKS, guess_single_byte, open_utf8
from regard.data.record import CORRECT, Fault, make_fault

LONGEST_LINE = 1 << 24
"""At most this many bytes per line, so that memory is bounded for any file."""

_MOST_SKIPPED = 16
"""Pieces of an overlong line that are skipped; more is no text."""

_BOM = b"\xef\xbb\xbf"


class TextLine(NamedTuple):
    """A line without its line end; numbers count from 1."""

    number: int
    text: str


def iterate_lines(path: Path, encoding: str = "utf-8") -> Iterator[TextLine | Fault]:
    """Read a file line by line; a line that is not text is a fault, and reading goes on."""
    number = 0
    try:
        with open_utf8(path, encoding) as file:
            for number, raw in enumerate(_iterate_raw_lines(file), start=1):
                found = _decode_line(path, number, raw, encoding)
                yield found
                if isinstance(found, Fault) and found.severity == "fatal":
                    return
    except UnicodeError:
        yield _make_encoding_fault(path, number + 1, encoding)
    except BROKEN as error:
        yield _make_fatal_fault(
            "compression", path, number + 1, f"The compressed data is broken: {error}."
        )
    except OSError as error:
        yield make_unreadable_fault(path, error)
    else:
        if not number:
            yield _make_fatal_fault("empty-file", path, 0, "The file is empty.")


def read_document(path: Path, encoding: str = "utf-8") -> tuple[str, int] | Fault:
    """Read a whole file of at most ``LONGEST_LINE`` characters: its text and first line number."""
    found: list[str] = []
    size = 0
    for line in iterate_lines(path, encoding):
        if isinstance(line, Fault):
            return line
        size += len(line.text) + 1
        if size > LONGEST_LINE:
            return make_fault(
                "long", path, line.number, f"The file has over {LONGEST_LINE:,} characters."
            )
        found.append(line.text)
    return "\n".join(found), 1


def read_to_end(path: Path, encoding: str = "utf-8") -> str | Fault:
    """Read a file of any size as one text, line ends unchanged."""
    try:
        with open_utf8(path, encoding) as file:
            raw = file.read()
    except UnicodeError:
        return _make_encoding_fault(path, 0, encoding)
    except BROKEN as error:
        return _make_fatal_fault("compression", path, 0, f"The compressed data is broken: {error}.")
    except OSError as error:
        return make_unreadable_fault(path, error)
    return _decode_file(path, raw, encoding)


def _decode_file(path: Path, raw: bytes, encoding: str) -> str | Fault:
    if not raw:
        return _make_fatal_fault("empty-file", path, 0, "The file is empty.")
    if raw.startswith((*UTF_16_MARKS, *UTF_32_MARKS)):
        return _make_encoding_fault(path, 1, encoding, raw)
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + len(raw) - len(error.object)
        line, begin = raw.count(b"\n", 0, at) + 1, raw.rfind(b"\n", 0, at) + 1
        return _describe_byte(path, line, raw[begin:], at - begin, encoding)


def _iterate_raw_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Read lines as bytes; of an overlong line only the first ``LONGEST_LINE + 1``."""
    while raw := file.readline(LONGEST_LINE + 1):
        yield raw
        rest, pieces = raw, 0
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            if (pieces := pieces + 1) > _MOST_SKIPPED:
                raise EOFError(f"a line has more than {_MOST_SKIPPED * LONGEST_LINE:,} bytes")
            rest = file.readline(LONGEST_LINE + 1)


def _decode_line(path: Path, number: int, raw: bytes, encoding: str) -> TextLine | Fault:
    if number == 1:
        if raw.startswith((*UTF_16_MARKS, *UTF_32_MARKS)):
            return _make_encoding_fault(path, 1, encoding, raw)
        raw = raw.removeprefix(_BOM)
    if len(raw) > LONGEST_LINE:
        return make_fault(
            "overlong", path, number, f"The line has more than {LONGEST_LINE:,} bytes."
        )
    if b"\0" in raw:
        fault = make_fault("nul", path, number, "The line contains a NUL character.")
        most = raw.count(0) > len(raw) / 4
        return fault._replace(remedy=_AS_UTF_16) if most else fault
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _describe_byte(path, number, raw, error.start, encoding)
    return TextLine(number, text.removesuffix("\n").removesuffix("\r"))


def _describe_byte(path: Path, line: int, raw: bytes, at: int, encoding: str) -> Fault:
    """Name a byte that is not in the encoding, and the encoding that it may be in."""
    problem = f"Text must be {encoding.upper()}; byte 0x{raw[at]:02X} at column {at + 1} is not."
    remedy = CORRECT
    if encoding == "utf-8":
        guess = guess_single_byte(raw)
        shown = raw[max(0, at - 8) : at + 8].decode(guess).strip()
        remedy = f'If {shown!r} is right, set data.encoding = "{guess}"; otherwise: {CORRECT}'
    return make_fault("encoding", path, line, problem)._replace(remedy=remedy)


_AS_UTF_16 = 'Set data.encoding = "utf-16", or convert it: iconv -f UTF-16 -t UTF-8.'


def _make_encoding_fault(path: Path, line: int, encoding: str, raw: bytes = b"") -> Fault:
    """Make the fault of a file that is UTF-16 and should not be, or the other way round."""
    if raw.startswith(UTF_32_MARKS):
        problem = f"Text must be {encoding.upper()}; this file is UTF-32."
        remedy = "Convert it: iconv -f UTF-32 -t UTF-8."
    elif encoding == "utf-16":
        problem, remedy = "The file is not UTF-16.", "Set data.encoding to what it is."
    else:
        problem = f"Text must be {encoding.upper()}; this file is UTF-16."
        remedy = _AS_UTF_16
    return Fault("encoding", "fatal", str(path), line, problem, remedy)


def _make_fatal_fault(kind: str, path: Path, line: int, problem: str) -> Fault:
    remedies = {
        "compression": "Download or compress the file again.",
        "empty-file": "Remove the file from the recipe, or add text to it.",
    }
    return Fault(kind, "fatal", str(path), line, problem, remedies[kind])


def make_unreadable_fault(path: Path, error: OSError) -> Fault:
    """Describe why a file cannot be opened."""
    if isinstance(error, FileNotFoundError):
        home = "a recipe's own folder" if path.is_absolute() else Path.cwd()
        remedy = f"Check the spelling; paths are relative to {home}."
        return Fault("missing-file", "fatal", str(path), 0, "There is no such file.", remedy)
    if isinstance(error, NotAFile):
        problem = "This is a device, a pipe or a socket, and data is read more than once."
        return Fault("missing-file", "fatal", str(path), 0, problem, "Save it as a file.")
    problem = f"The file cannot be read: {os.strerror(error.errno or 0)}."
    return Fault("missing-file", "fatal", str(path), 0, problem, "Name a readable file.")
