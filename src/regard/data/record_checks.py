"""What one record alone can make one suspicious of."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from regard.data.record import Record
from regard.data.split import essence

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MOJIBAKE = re.compile("�|[ÃÂ][\u0080-\u00bf]|â€|Ð[\u0080-\u00bf]Ð")
_MARKUP = re.compile(
    r"</?(?:br|p|div|span|a|b|i|li|ul|td|tr)\b[^>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+);"
)


class Suspicion(NamedTuple):
    """A kind of finding, what was seen, and what to do about it."""

    kind: str
    problem: str
    remedy: str


def suspicions(record: Record, *, longest_characters: int, labelled: bool) -> Iterator[Suspicion]:
    """Look at one record; the last field is a label where ``labelled``."""
    texts = record.fields[:-1] if labelled and len(record.fields) > 1 else record.fields
    for text in texts:
        yield from _of_text(text, longest_characters)
    sides = len(texts) > 1 and not labelled
    if sides and len(texts[0].split()) > 1 and essence(texts[0]) == essence(texts[1]):
        remedy = "Leave untranslated lines out; they teach the model to copy."
        yield Suspicion("copied", "Both sides are the same text.", remedy)


def _of_text(text: str, longest: int) -> Iterator[Suspicion]:
    if len(text) > longest:
        told = f"The text has {len(text):,} characters; over {longest:,} is suspicious."
        yield Suspicion("long", told, "Cut it into shorter texts, or raise text.max_length.")
    if found := _CONTROL.search(text):
        told = f"The text holds the control character U+{ord(found[0]):04X}."
        yield Suspicion("control", told, "Remove control characters.")
    if found := _MOJIBAKE.search(text):
        seen = text[max(0, found.start() - 8) : found.end() + 8]
        told = f"The text looks decoded wrongly: {seen!r}."
        yield Suspicion("mojibake", told, "Read the original again in its own encoding.")
    if found := _MARKUP.search(text):
        yield Suspicion("markup", f"The text holds markup: {found[0]!r}.", "Take the markup out.")
    if text != text.strip():
        told = "The text begins or ends with white space."
        yield Suspicion("spacing", told, "Strip it, or the model learns to write it.")
