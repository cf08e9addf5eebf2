"""Read annotated texts from JSON lines, as annotation tools and libraries write them.

Prodigy    {"text": …, "spans": [{"start": 0, "end": 4, "label": "PER"}], "tokens": […]}
doccano    {"text": …, "label": [[0, 4, "PER"]]}     also "labels" and "entities"
datasets   {"tokens": ["Anna", …], "ner_tags": ["B-PER", …]}
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.data.formats.jsonl import parse_object
from regard.data.lines import iterate_lines
from regard.data.record import CORRECT, Fault, Found, make_blank_note, make_fault, make_record
from regard.tasks.tagging.align import Marked, annotate
from regard.tasks.tagging.columns import Sentence, Token
from regard.tasks.tagging.example import Place, find_words

SPANS = ("spans", "label", "labels", "entities")
TAGS = ("ner_tags", "tags", "labels", "ner", "pos_tags", "upos", "chunk_tags")
REJECTED = ("reject", "ignore")


class Names(NamedTuple):
    """Which fields of an object are read."""

    text: str
    """A text, or a list of tokens."""
    marks: str
    """Spans of the text, or a tag for each token."""


def read_objects(path: Path, fields: tuple[str, ...]) -> Iterator[Found | Sentence]:
    """Read one object per line: a record if it marks characters, a sentence if it tags tokens."""
    names = Names(*fields) if len(fields) == 2 else None
    for line in iterate_lines(path):
        if isinstance(line, Fault):
            yield line
            continue
        if not line.text.strip():
            yield make_blank_note(path, line.number)
            continue
        value = parse_object(path, line)
        if isinstance(value, Fault):
            yield value
            continue
        names = names or _detect_names(value)
        if names is None:
            problem = f"The fields of text and spans cannot be detected among: {', '.join(value)}."
            remedy = 'Name them in data.fields, for instance ["text", "spans"].'
            yield Fault("missing-field", "fatal", str(path), line.number, problem, remedy)
            return
        yield from _read(path, line.number, value, names)


def mark_text(
    path: str, line: int, text: str, marked: Sequence[Marked], tokens: Sequence[Place] = ()
) -> Iterator[Found]:
    """Make a record of an annotated text, or a fault for every span that does not align."""
    found = annotate(text, tokens or find_words(text), marked)
    if isinstance(found, list):
        for misfit in found:
            remedy = f"{misfit.remedy} {CORRECT}"
            yield Fault(misfit.kind, "bad", path, line, misfit.problem, remedy)
    elif not found.tokens:
        yield make_fault("empty-field", Path(path), line, "The text is empty.")
    else:
        yield make_record((text, found.as_field()), Path(path), line)


def as_marked(value: object) -> Marked | None:
    """Read one span: ``[start, end, label]``, or an object with these; None if it is neither."""
    if isinstance(value, dict):
        begin = value.get("start", value.get("start_offset"))
        end = value.get("end", value.get("end_offset"))
        value = [begin, end, value.get("label")]
    if not isinstance(value, list) or len(value) != 3:
        return None
    begin, end, label = value
    if type(begin) is not int or type(end) is not int or not isinstance(label, str):
        return None
    return Marked(begin, end, label)


def _detect_names(value: dict[str, object]) -> Names | None:
    """Find the names that tools use."""
    tokens = value.get("tokens", value.get("words"))
    if isinstance(tokens, list) and all(isinstance(one, str) for one in tokens):
        text = "tokens" if "tokens" in value else "words"
        return next((Names(text, name) for name in TAGS if name in value), None)
    return next((Names("text", name) for name in SPANS if name in value and "text" in value), None)


def _read(
    path: Path, line: int, value: dict[str, object], names: Names
) -> Iterator[Found | Sentence]:
    if value.get("answer") in REJECTED:
        problem = f'The annotator\'s answer is "{value["answer"]}".'
        yield Fault("rejected", "note", str(path), line, problem, "The text is skipped.")
        return
    text, marks = value.get(names.text), value.get(names.marks)
    if not isinstance(text, str | list) or not isinstance(marks, list):
        name = names.marks if isinstance(text, str | list) else names.text
        yield make_fault(
            "missing-field", path, line, f"The field {name!r} is missing or has the wrong type."
        )
    elif isinstance(text, list):
        yield _join_tags(path, line, text, marks)
    else:
        yield from _read_marks(path, line, value, text, marks)


def _join_tags(path: Path, line: int, tokens: list[object], tags: list[object]) -> Sentence | Fault:
    if len(tokens) != len(tags) or not tokens:
        return make_fault(
            "columns", path, line, f"There are {len(tokens)} tokens and {len(tags)} tags."
        )
    sentence = []
    for token, tag in zip(tokens, tags, strict=True):
        if type(tag) is int:
            problem = f"The tag {tag} is a number, and the file does not name it."
            return Fault("tag", "bad", str(path), line, problem, 'Write names, such as "B-PER".')
        if not (isinstance(token, str) and isinstance(tag, str) and token.strip() and tag.strip()):
            problem = f"Tokens and tags must be nonempty strings. Got {token!r} and {tag!r}."
            return make_fault("columns", path, line, problem)
        sentence.append(Token(token, tag, line))
    return sentence


def _read_marks(
    path: Path, line: int, value: dict[str, object], text: str, marks: list[object]
) -> Iterator[Found]:
    spans = [as_marked(mark) for mark in marks]
    unread = [mark for mark, span in zip(marks, spans, strict=True) if span is None]
    for mark in unread:
        problem = f"A span must be [start, end, label]. Got {json.dumps(mark, ensure_ascii=False)}."
        yield make_fault("span", path, line, problem)
    places = _given_tokens(text, value.get("tokens"))
    if places is None:
        yield make_fault("span", path, line, 'The offsets of "tokens" do not match the text.')
    elif not unread:
        marked = [span for span in spans if span is not None]
        yield from mark_text(str(path), line, text, marked, places)


def _given_tokens(text: str, value: object) -> list[Place] | None:
    """Read Prodigy's tokens without white space; an empty list if absent, None if wrong."""
    if not isinstance(value, list):
        return []
    found = []
    for token in value:
        begin, end = (token.get("start"), token.get("end")) if isinstance(token, dict) else (0, 0)
        if type(begin) is not int or type(end) is not int or text[begin:end] != token.get("text"):
            return None
        if text[begin:end].strip():
            found.append((begin, end))
    return found
