"""Predictions of a tagger: spans of characters with a type and a score, as data and as text.

    [{"entity_group": "PER", "score": 0.99, "word": "Anna", "start": 0, "end": 4}, …]
    Anna[PER 0.99] lives in Rome[LOC 0.98].

A score is the mean probability of the predicted tags of the span's tokens.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.tasks.tagging.decode import Numbers
from regard.tasks.tagging.example import Place
from regard.tasks.tagging.schemes import Scheme, Span, read_spans

Entity = dict[str, Any]


def find_entities(
    text: str,
    tokens: Sequence[Place],
    tags: Sequence[str],
    probabilities: Numbers,
    scheme: Scheme,
) -> list[Entity]:
    """Convert tags to entities; ``probabilities`` are those of the tags, one per token."""
    return [
        _entity(text, tokens, span, float(np.mean(probabilities[span.begin : span.end])))
        for span in read_spans(tags, scheme)
    ]


def _entity(text: str, tokens: Sequence[Place], span: Span, score: float) -> Entity:
    begin, end = tokens[span.begin][0], tokens[span.end - 1][1]
    return {
        "entity_group": span.label,
        "score": score,
        "word": text[begin:end],
        "start": begin,
        "end": end,
    }


def write_entities(text: str, entities: Sequence[Entity]) -> str:
    """Write a text with its entities marked, each with its score if it has one."""
    written, at = "", 0
    for one in entities:
        score = f" {one['score']:.2f}" if "score" in one else ""
        written += f"{text[at : one['end']]}[{one['entity_group']}{score}]"
        at = one["end"]
    return written + text[at:]
