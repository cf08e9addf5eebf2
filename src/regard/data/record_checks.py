"""Checks of a single record: length, control characters, encoding, markup, copied text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from regard.data.record import Record
from regard.data.split import normalize_text

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MOJIBAKE = re.compile("�|[ÃÂ][\u0080-\u00bf]|â€|Ð[\u0080-\u00bf]Ð")
_MARKUP = re.compile(
    r"</?(?:br|p|div|span|a|b|i|li|ul|td|tr)\b[^>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+);"
)


class RecordIssue(NamedTuple):
    """Kind of finding, problem and remedy."""

    kind: str
    problem: str
    remedy: str


def check_record(
    record: Record, *, longest_characters: int, labelled: bool
) -> Iterator[RecordIssue]:
    """Check one record; if ``labelled``, the last field is a label."""
    texts = record.fields[:-1] if labelled and len(record.fields) > 1 else record.fields
    for text in texts:
        yield from _check_text(text, longest_characters)
        if text != text.strip() and not labelled:
            problem = "The text begins or ends with white space."
            yield RecordIssue("spacing", problem, "Strip it: the model learns to generate it.")
    sides = len(texts) > 1 and not labelled
    if sides and len(texts[0].split()) > 1 and normalize_text(texts[0]) == normalize_text(texts[1]):
        remedy = "Remove untranslated lines: the model learns to copy from them."
        yield RecordIssue("copied", "Both sides are the same text.", remedy)


def _check_text(text: str, longest: int) -> Iterator[RecordIssue]:
    if len(text) > longest:
        problem = f"The text has {len(text):,} characters, more than {longest:,}."
        yield RecordIssue("long", problem, "Split it into shorter texts, or raise text.max_length.")
    if found := _CONTROL.search(text):
        problem = f"The text contains the control character U+{ord(found[0]):04X}."
        yield RecordIssue("control", problem, "Remove control characters.")
    if found := _MOJIBAKE.search(text):
        seen = text[max(0, found.start() - 8) : found.end() + 8]
        problem = f"The text seems to be decoded with the wrong encoding: {seen!r}."
        yield RecordIssue("mojibake", problem, "Convert the original from its own encoding.")
    if found := _MARKUP.search(text):
        yield RecordIssue(
            "markup", f"The text contains markup: {found[0]!r}.", "Remove the markup."
        )
