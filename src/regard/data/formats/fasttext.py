"""fastText: ``__label__name``, then the text, one example per line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, Found, Request, make_blank_note, make_fault, make_record

PREFIX = "__label__"


def read_fasttext(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read (text, label)."""
    for path in files:
        for line in iterate_lines(path, request.encoding):
            if isinstance(line, Fault):
                yield line
            elif line.text.strip():
                yield _make_record(path, line, request.label_separator)
            else:
                yield make_blank_note(path, line.number)


def _make_record(path: Path, line: TextLine, separator: str) -> Found:
    label, _, text = line.text.lstrip().partition(" ")
    if not label.startswith(PREFIX) or label == PREFIX:
        return make_fault(
            "missing-label", path, line.number, f"The line must begin with {PREFIX}NAME."
        )
    labels = [label.removeprefix(PREFIX)]
    while (text := text.lstrip()).startswith(PREFIX):
        if not separator:
            return make_fault(
                "several-labels", path, line.number, "The line has more than one label."
            )
        label, _, text = text.partition(" ")
        labels.append(label.removeprefix(PREFIX))
    return make_record((text, separator.join(labels)), path, line.number)
