"""Plain text: documents separated by blank lines, single lines, or whole files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import iterate_lines, read_to_end
from regard.data.record import Fault, Found, Record, Request, make_blank_note, make_record

LONGEST_DOCUMENT = 100_000
"""Characters after which a document is continued in a new record, so that memory is bounded."""


def read_documents(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read documents of one or more lines, with their line breaks."""
    for path in files:
        yield from _read_documents(path, request.encoding)


def read_lines(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read every line as a record of its own."""
    for path in files:
        for line in iterate_lines(path, request.encoding):
            if isinstance(line, Fault):
                yield line
            elif line.text.strip():
                yield Record((line.text,), str(path), line.number)
            else:
                yield make_blank_note(path, line.number)


def read_whole(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read every file as one record; it is held in memory."""
    for path in files:
        text = read_to_end(path, request.encoding)
        yield text if isinstance(text, Fault) else make_record((text,), path, 1)


def _read_documents(path: Path, encoding: str) -> Iterator[Found]:
    held: list[str] = []
    size = first = 0
    for line in iterate_lines(path, encoding):
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
