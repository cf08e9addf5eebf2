"""fastText: ``__label__name`` and then the text, one example per line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import Line, lines
from regard.data.record import Fault, Found, Request, bad, blank, examined

LABEL = "__label__"


def read_fasttext(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read (text, label)."""
    for path in files:
        for line in lines(path):
            if isinstance(line, Fault):
                yield line
            elif line.text.strip():
                yield _record(path, line, request.label_separator)
            else:
                yield blank(path, line.number)


def _record(path: Path, line: Line, separator: str) -> Found:
    label, _, text = line.text.lstrip().partition(" ")
    if not label.startswith(LABEL) or label == LABEL:
        return bad("missing-label", path, line.number, f"The line must begin with {LABEL}NAME.")
    labels = [label.removeprefix(LABEL)]
    while (text := text.lstrip()).startswith(LABEL):
        if not separator:
            return bad("several-labels", path, line.number, "The line has more than one label.")
        label, _, text = text.partition(" ")
        labels.append(label.removeprefix(LABEL))
    return examined((text, separator.join(labels)), path, line.number)
