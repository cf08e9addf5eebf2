"""Read examples of tagging in any format; every fault has file and line.

The tag scheme of a file is detected in a first pass over the file, and reported in a note.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.compression import plain_name
from regard.data.record import Fault, Found, Request, make_fault, make_record
from regard.data.source import WORLD, scan
from regard.errors import UsageError
from regard.recipe.data import DataSettings
from regard.tasks.tagging.columns import Sentence, read_sentences
from regard.tasks.tagging.example import Annotation, Place
from regard.tasks.tagging.objects import as_marked, mark_text, read_objects
from regard.tasks.tagging.schemes import (
    Scheme,
    Span,
    detect_scheme,
    is_prefixed,
    normalize,
    read_spans,
)

OBJECTS = (".jsonl", ".ndjson", ".json")
FORMATS = ("auto", "jsonl", "tsv", "world")


def records(data: DataSettings, files: Iterable[str], split: str) -> Iterator[Found]:
    """Read the sentences of files, and note the scheme of each file."""
    if data.format not in FORMATS:
        raise UsageError(
            f'tagging reads columns, word|tag and JSON lines. Got data.format = "{data.format}".',
            'Leave data.format out, or set it to "jsonl" or "tsv".',
        )
    if data.group:
        raise UsageError(
            f"tagging does not support data.group. Got data.group = {data.group!r}.",
            "Remove data.group and name validation files in data.valid.",
        )
    for file in files:
        if file.startswith(WORLD):
            yield from _world(file, split)
        else:
            yield from _file(Path(file).expanduser(), data)


def _world(name: str, split: str) -> Iterator[Found]:
    for found in scan([name], Request(2), split=split):
        if isinstance(found, Fault):
            yield found
            continue
        text, written = found.fields
        marked = [as_marked(one) for one in json.loads(written)]
        yield from mark_text(found.file, found.line, text, [one for one in marked if one])


def _file(path: Path, data: DataSettings) -> Iterator[Found]:
    scheme = detect_scheme(
        [token.tag for token in found] for found in _parts(path, data) if isinstance(found, list)
    )
    noted = False
    for found in _parts(path, data):
        if not isinstance(found, list):
            yield found
            continue
        if not noted:
            yield _note(path, scheme)
            noted = True
        yield from _make_record(path, found, scheme)


def _parts(path: Path, data: DataSettings) -> Iterator[Found | Sentence]:
    if data.format == "jsonl" or plain_name(path).suffix.lower() in OBJECTS:
        return read_objects(path, data.fields)
    return read_sentences(path, data.fields)


def _note(path: Path, scheme: Scheme) -> Fault:
    problem = f"The tags are {scheme}."
    remedy = "They are read and scored in this scheme; the model is trained on IOB2."
    if scheme == "none":
        problem = "The tags have no prefixes such as B- and I-."
        remedy = "Each token is tagged and scored alone."
    return Fault("scheme", "note", str(path), 0, problem, remedy)


def _make_record(path: Path, sentence: Sentence, scheme: Scheme) -> Iterator[Found]:
    """Make a record of a sentence; tags that the scheme does not allow are reported."""
    unread = [one for one in sentence if scheme != "none" and not is_prefixed(one.tag)]
    for token in unread:
        problem = f"The tag {token.tag!r} of {token.text!r} has no prefix such as B- or I-."
        yield make_fault("tag", path, token.line, problem)
    if unread:
        return
    tags = [one.tag if scheme == "none" else normalize(one.tag) for one in sentence]
    allowed = set(read_spans(tags, scheme, strict=True))
    for span in read_spans(tags, scheme):
        if span not in allowed:
            yield _irregular(path, sentence, span, scheme)
    places: list[Place] = []
    begin = 0
    for token in sentence:
        places.append((begin, begin + len(token.text)))
        begin += len(token.text) + 1
    text = " ".join(token.text for token in sentence)
    annotation = Annotation(scheme, tuple(tags), tuple(places))
    yield make_record((text, annotation.as_field()), path, sentence[0].line)


def _irregular(path: Path, sentence: Sentence, span: Span, scheme: Scheme) -> Fault:
    own = sentence[span.begin : span.end]
    words, tags = (
        " ".join(part) for part in zip(*((one.text, one.tag) for one in own), strict=True)
    )
    problem = f"The tags {tags} of {words!r} are not {scheme}."
    remedy = (
        f"They are read as one span of {span.label}, as conlleval does; strict scores leave it out."
    )
    return Fault("irregular", "note", str(path), own[0].line, problem, remedy)
