"""ROUGE: how much of a reference an answer contains (Lin 2004).

    recall = shared / in the reference     precision = shared / in the answer
    F1     = 2·precision·recall / (precision + recall)
    rouge1, rouge2    shared: runs of one or two words, each counted as often as both have it
    rougel            shared: the longest sequence of words that both have in order

Words are runs of a-z and 0-9 after lower-casing, without stemming: as the package rouge-score has
them, so that figures compare. Letters beyond these part words; for other scripts take chrF.
"""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"[a-z0-9]+")
SIGNATURE = "f1|mean:examples|case:lc|words:a-z0-9|stem:no|like:rouge-score"


class Rouge(NamedTuple):
    """The three scores of one answer, or their means; each from 0 to 1."""

    rouge1: float
    rouge2: float
    rougel: float


def rouge(answer: str, reference: str) -> Rouge:
    """Score one answer."""
    said, expected = words(answer), words(reference)
    return Rouge(
        _overlap(said, expected),
        _overlap(list(pairwise(said)), list(pairwise(expected))),
        _f1(longest_common(said, expected), len(said), len(expected)),
    )


def mean_rouge(each: Sequence[Rouge]) -> Rouge:
    """Average over answers; there must be one at least."""
    return Rouge(*(sum(scores) / len(each) for scores in zip(*each, strict=True)))


def words(text: str) -> list[str]:
    """Cut a text into the words that are counted."""
    return _WORD.findall(text.lower())


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest sequence both have in order.

    One bit for each word of ``first``, a step for each of ``second`` (Crochemore et al. 2001).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(first)) - 1
    free = every
    for word in second:
        found = free & places.get(word, 0)
        free = ((free + found) | (free - found)) & every
    return len(first) - free.bit_count()


def _overlap(said: Sequence[Hashable], expected: Sequence[Hashable]) -> float:
    return _f1((Counter(said) & Counter(expected)).total(), len(said), len(expected))


def _f1(shared: int, said: int, expected: int) -> float:
    return 2 * shared / (said + expected) if shared else 0.0
