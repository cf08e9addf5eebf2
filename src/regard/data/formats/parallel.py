"""Parallel files: line n of every file is the same sentence, one file per language."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, Found, Request, make_blank_note, make_fault, make_record

_Lines = Iterator[TextLine | Fault]


def read_parallel(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read line by line; several corpora are listed in turn (a.de a.en b.de b.en)."""
    sides = request.expected or len(files)
    for start in range(0, len(files), sides):
        yield from _read_group(files[start : start + sides], request.encoding)


def _read_group(paths: Sequence[Path], encoding: str) -> Iterator[Found]:
    readers = [iterate_lines(path, encoding) for path in paths]
    for number, row in enumerate(zip_longest(*readers), start=1):
        faults = [line for line in row if isinstance(line, Fault)]
        yield from faults
        if any(fault.severity == "fatal" for fault in faults):
            return
        if None in row:
            yield _make_misaligned_fault(paths, readers, row, number)
            return
        if not faults:
            yield _make_record(
                paths, [line.text for line in row if isinstance(line, TextLine)], number
            )


def _make_record(paths: Sequence[Path], texts: list[str], number: int) -> Found:
    empty = [path for path, text in zip(paths, texts, strict=True) if not text.strip()]
    if len(empty) == len(paths):
        return make_blank_note(paths[0], number)
    if empty:
        return make_fault(
            "empty-field", empty[0], number, "The line is empty on this side and not on the other."
        )
    return make_record(tuple(texts), paths[0], number)


def _make_misaligned_fault(
    paths: Sequence[Path],
    readers: list[_Lines],
    row: Sequence[TextLine | Fault | None],
    number: int,
) -> Fault:
    counts, surplus = [], 0
    for reader, line in zip(readers, row, strict=True):
        rest = [] if line is None else [line]
        count = number - 1
        while rest:
            count += 1
            surplus += not isinstance(rest[0], TextLine) or bool(rest[0].text.strip())
            rest = [following] if (following := next(reader, None)) else []
        counts.append(count)
    longest = paths[counts.index(max(counts))]
    if not surplus:
        return make_blank_note(longest, number)
    found = ", ".join(f"{path} has {count:,}" for path, count in zip(paths, counts, strict=True))
    return Fault(
        "misaligned",
        "fatal",
        str(longest),
        number,
        f"Parallel files must have equally many lines. {found}.",
        "Find the missing or split line with regard check, and correct the files.",
    )
