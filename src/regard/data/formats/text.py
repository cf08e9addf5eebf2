"""Plain text: a blank line ends a document, every line stands alone, or a file is one text."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import lines, whole
from regard.data.record import Fault, Found, Record, Request, blank, examined

LONGEST_DOCUMENT = 100_000
"""Characters after which a document goes on as a new record, so that memory stays bounded."""


def read_documents(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read documents of one or more lines, kept together with their line ends."""
    for path in files:
        yield from _documents(path)


def read_lines(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read every line as a record of its own."""
    for path in files:
        for line in lines(path):
            if isinstance(line, Fault):
                yield line
            elif line.text.strip():
                yield Record((line.text,), str(path), line.number)
            else:
                yield blank(path, line.number)


def read_whole(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read every file as one record, to the last character; it is held in memory whole."""
    for path in files:
        text = whole(path)
        yield text if isinstance(text, Fault) else examined((text,), path, 1)


def _documents(path: Path) -> Iterator[Found]:
    held: list[str] = []
    size = first = 0
    for line in lines(path):
        if isinstance(line, Fault):
            yield line
            continue
        ended = not line.text.strip()
        if not ended:
            first = first if held else line.number
            held.append(line.text)
            size += len(line.text) + 1
        if held and (ended or size > LONGEST_DOCUMENT):
            yield Record(("\n".join(held),), str(path), first)
            held, size = [], 0
    if held:
        yield Record(("\n".join(held),), str(path), first)
