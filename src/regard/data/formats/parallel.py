"""Parallel files: line n of each file says the same, one file per language."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from regard.data.lines import Line, lines
from regard.data.record import Fault, Found, Request, bad, blank, examined

_Lines = Iterator[Line | Fault]


def read_parallel(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read line by line; several corpora stand one after another (a.de a.en b.de b.en)."""
    sides = request.expected or len(files)
    for start in range(0, len(files), sides):
        yield from _group(files[start : start + sides])


def _group(paths: Sequence[Path]) -> Iterator[Found]:
    readers = [lines(path) for path in paths]
    for number, row in enumerate(zip_longest(*readers), start=1):
        faults = [line for line in row if isinstance(line, Fault)]
        yield from faults
        if any(fault.severity == "fatal" for fault in faults):
            return
        if None in row:
            yield _misaligned(paths, readers, row, number)
            return
        if not faults:
            yield _record(paths, [line.text for line in row if isinstance(line, Line)], number)


def _record(paths: Sequence[Path], texts: list[str], number: int) -> Found:
    empty = [path for path, text in zip(paths, texts, strict=True) if not text.strip()]
    if len(empty) == len(paths):
        return blank(paths[0], number)
    if empty:
        return bad("empty-field", empty[0], number, "The line is empty on this side only.")
    return examined(tuple(texts), paths[0], number)


def _misaligned(
    paths: Sequence[Path], readers: list[_Lines], row: Sequence[Line | Fault | None], number: int
) -> Fault:
    counts, surplus = [], 0
    for reader, line in zip(readers, row, strict=True):
        rest = [] if line is None else [line]
        count = number - 1
        while rest:
            count += 1
            surplus += not isinstance(rest[0], Line) or bool(rest[0].text.strip())
            rest = [following] if (following := next(reader, None)) else []
        counts.append(count)
    longest = paths[counts.index(max(counts))]
    if not surplus:
        return blank(longest, number)
    told = ", ".join(f"{path} has {count:,}" for path, count in zip(paths, counts, strict=True))
    return Fault(
        "misaligned",
        "fatal",
        str(longest),
        number,
        f"Parallel files must have a line for every line. In lines, {told}.",
        "Find the line that is missing or split in two (regard check), and put the files right.",
    )
