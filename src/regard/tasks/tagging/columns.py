"""Files of tokens with their tags: CoNLL columns, CoNLL-U, and ``word|tag``.

Anna   B-PER              # text = …                          Anna|B-PER lives|O
lives  O                  1  Anna   …  PROPN  …               Anna|NNP|B-PER lives|VBZ|O
                          2  lives  …  VERB   …
blank line = new sentence    columns of CoNLL-U                     one sentence per line
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from regard.data.compression import plain_name
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, make_fault
from regard.errors import UsageError

BOUNDARY = "-DOCSTART-"
CONLL_U = (1, 3)
"""The columns of words and of universal parts of speech."""


class Token(NamedTuple):
    """A token, its tag in the file, and its line."""

    text: str
    tag: str
    line: int


Sentence = list[Token]
Row = tuple[int, list[str] | Fault]
"""The number of a line, and its cells or its fault."""


def read_sentences(path: Path, fields: tuple[str, ...]) -> Iterator[Sentence | Fault]:
    """Read the sentences of a file in any form; one with a faulty line is left out."""
    return _read_bars(path, fields) if _has_bars(path) else _read_columns(path, fields)


def _has_bars(path: Path) -> bool:
    read = (line for line in islice(iterate_lines(path), 50) if isinstance(line, TextLine))
    first = next((line.text for line in read if _has_content(line)), "")
    return first != "" and "\t" not in first and all("|" in part[1:] for part in first.split())


def _has_content(line: TextLine) -> bool:
    return line.text.strip() != "" and not line.text.startswith(BOUNDARY)


def _read_bars(path: Path, fields: tuple[str, ...]) -> Iterator[Sentence | Fault]:
    columns = 0
    for line in iterate_lines(path):
        if isinstance(line, Fault):
            yield line
        elif _has_content(line):
            pieces = line.text.split()
            columns = columns or 1 + pieces[0][1:].count("|")
            # Split from the right, because a word may be a bar.
            rows: list[Row] = [(line.number, each.rsplit("|", columns - 1)) for each in pieces]
            yield from _read_rows(path, rows, columns, fields)


def _read_columns(path: Path, fields: tuple[str, ...]) -> Iterator[Sentence | Fault]:
    universal = _is_universal(path)
    columns = 0
    rows: list[Row] = []
    for line in iterate_lines(path):
        if isinstance(line, Fault):
            rows.append((line.line, line))
        elif not _has_content(line):
            yield from _read_rows(path, rows, columns, fields)
            rows = []
        elif not (universal and line.text.startswith("#")):
            cells = line.text.split("\t") if "\t" in line.text else line.text.split()
            columns = columns or len(cells)
            # CoNLL-U numbers multiword tokens 3-4 and empty nodes 5.1.
            if not universal or cells[0].isdigit():
                rows.append((line.number, cells))
    yield from _read_rows(path, rows, columns, fields)


def _read_rows(
    path: Path, rows: Sequence[Row], columns: int, fields: tuple[str, ...]
) -> Iterator[Sentence | Fault]:
    """Read word and tag of the rows of one sentence; yield a fault for each bad row."""
    sentence: Sentence = []
    for number, cells in rows:
        if isinstance(cells, Fault):
            yield cells
            continue
        word, tag = _choose_columns(path, fields, columns)
        if problem := _describe_fault(cells, columns, word=word, tag=tag):
            yield make_fault("columns", path, number, problem)
        else:
            sentence.append(Token(cells[word].strip(), cells[tag].strip(), number))
    if sentence and len(sentence) == len(rows):
        yield sentence


def _choose_columns(path: Path, fields: tuple[str, ...], columns: int) -> tuple[int, int]:
    """Return the columns of words and tags: as given, those of CoNLL-U, or first and last."""
    if not fields:
        return CONLL_U if _is_universal(path) else (0, columns - 1)
    if len(fields) != 2 or not all(name.isdigit() for name in fields):
        raise UsageError(
            f"data.fields must be the column numbers of word and tag, counted from 0. Got "
            f"data.fields = {list(fields)}; {path.name} has {columns} columns.",
            "Write for instance data.fields = [0, 3], or leave it out for the first and the last.",
        )
    return int(fields[0]), int(fields[1])


def _describe_fault(cells: list[str], columns: int, *, word: int, tag: int) -> str:
    if columns < 2:
        return f"A line needs a word and a tag. Got {' '.join(cells)!r}."
    if len(cells) != columns:
        return f"The line has {len(cells)} columns; the file's first has {columns}."
    for what, place in (("word", word), ("tag", tag)):
        if place >= columns or not cells[place].strip():
            return f"There is no {what} in column {place}."
    return ""


def _is_universal(path: Path) -> bool:
    return plain_name(path).suffix.lower() == ".conllu"
