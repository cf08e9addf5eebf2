"""Sentences of the scenes' grammar about persons, places and times, with their gold spans.

    Will Sydney Ashford meet May in Sydney in June?
    PER Sydney Ashford, May    LOC Sydney    TIME June

A word alone does not decide: Charlotte, Jordan and Ashford are persons or places, April and May are
persons or months, and Will is a person or the first word of a question. The splits share no
combination of subject, verb and object, and half of the names of valid and test are in no other
split. Only the sentence tells what these are.

``draw_names("train")`` yields sentences with their spans, in characters, the end exclusive.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from regard.data.worlds.names.draw import Names, draw_sentence
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.scenes.draw_clause import Rejected
from regard.data.worlds.splits import Split, to_split

__all__ = ["COUNTS", "Marked", "draw_names"]

COUNTS: dict[Split, int] = {"train": 12_000, "valid": 500, "test": 1_000}
"""How many sentences a split has unless asked for more or fewer."""

Span = tuple[int, int, str]

_PLACEHOLDER = re.compile(r"@(\d+)")


class Marked(NamedTuple):
    """A sentence and the persons, places and times in it."""

    text: str
    spans: tuple[Span, ...]


def draw_names(split: str, *, count: int | None = None, seed: int = 0) -> Iterator[Marked]:
    """Draw distinct sentences of a split, the same for the same seed on every machine."""
    side = to_split(split)
    chance, seen = Chance(side, seed, world="names"), set[str]()
    wanted = COUNTS[side] if count is None else count
    while len(seen) < wanted:
        drawn = Names(chance)
        try:
            sentence = draw_sentence(chance, drawn)
        except Rejected:
            continue
        marked = _fill(sentence, drawn)
        if marked.spans and marked.text not in seen:
            seen.add(marked.text)
            yield marked


def _fill(sentence: str, drawn: Names) -> Marked:
    """Put names in the places of ``@0``, ``@1`` and so on, and say where they stand."""
    text, spans, read = "", [], 0
    for found in _PLACEHOLDER.finditer(sentence):
        text += sentence[read : found.start()]
        name, label = drawn.given[int(found[1])]
        spans.append((len(text), len(text) + len(name), label))
        text, read = text + name, found.end()
    return Marked(text + sentence[read:], tuple(spans))
