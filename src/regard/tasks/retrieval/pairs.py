"""Pairs to learn from, drawn anew at every step.

    crops      two spans of one document, drawn independently, each losing some tokens
               (Contriever: Izacard et al. 2022); the one that asks is short, as questions are
    title      the title asks, a span of the body answers
    labelled   the query asks, the beginning of its document answers

Competitors are the other pairs of the batch, and documents that BM25 ranks high though they are
wrong (Karpukhin et al. 2020). A competitor that is known to answer too is none.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import Batch, pad
from regard.data.store import Store
from regard.recipe.retrieval import RetrievalSettings
from regard.tasks.retrieval.bm25 import Bm25
from regard.text import special

UNTITLED, TITLED, LABELLED = range(3)
"""What stands first in the third field of the store: what the first two are to each other."""
Ids = NDArray[np.uint32]


class Drawn(NamedTuple):
    """One pair."""

    query: Ids
    answer: Ids
    owner: int
    """Number of the document that answers."""
    also: list[int]
    """Numbers of all documents that answer, the first one included."""


class Pairs:
    """Draws pairs from a store.

    Args:
        store: Examples: what may ask, what answers, and how they belong together.
        settings: How pairs are drawn.
        longest: The most tokens of a text, special ones not counted.

    """

    def __init__(self, store: Store, settings: RetrievalSettings, *, longest: int) -> None:
        self.store, self.settings, self.longest = store, settings, longest
        self.words: Bm25[int] | None = None
        if settings.hard_negatives:
            self.words = Bm25.of(store[number][1].tolist() for number in range(len(store)))

    def batch(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Return what asks; what answers, wrong answers after the right ones; and who is who."""
        drawn = [self._drawn(self.store[int(number)], rng) for number in numbers]
        answers = [one.answer for one in drawn]
        owners = [one.owner for one in drawn]
        for number, one in zip(numbers, drawn, strict=True):
            for wrong in self._wrong(int(number), one, rng):
                _, text, tag = self.store[wrong]
                answers.append(_span(text, self._limits(self.settings.document_length), rng))
                owners.append(int(tag[1]))
        fields = (
            pad([marked(one.query) for one in drawn], filler=special.PAD),
            pad([marked(answer) for answer in answers], filler=special.PAD),
            pad([one.also for one in drawn], filler=-1),
            pad([[owner] for owner in owners], filler=-1),
        )
        return Batch(fields, numbers)

    def _drawn(self, example: tuple[Ids, ...], rng: np.random.Generator) -> Drawn:
        query, text, tag = example
        kind, owner, also = int(tag[0]), int(tag[1]), tag[1:].tolist()
        settings = self.settings
        answering = self._limits(settings.document_length)
        if kind == LABELLED:
            return Drawn(query[: self.longest], text[: answering[1]], owner, also)
        titled = kind == TITLED and "title" in settings.pairs
        if titled and ("crops" not in settings.pairs or rng.integers(2)):
            return Drawn(query[: self.longest], _span(text, answering, rng), owner, also)
        whole = np.concatenate([query, text])
        spans = [
            _span(whole, self._limits(each), rng) for each in (settings.query_length, answering)
        ]
        first, second = (_thinned(span, settings.deletion, rng) for span in spans)
        return Drawn(first, second, owner, also)

    def _limits(self, limits: tuple[int, int]) -> tuple[int, int]:
        return min(limits[0], self.longest), min(limits[1], self.longest)

    def _wrong(self, number: int, one: Drawn, rng: np.random.Generator) -> list[int]:
        """Draw examples whose texts BM25 takes for answers though they are none."""
        if self.words is None:
            return []
        scores = self.words.scores(one.query.tolist())
        scores[number] = 0.0
        most = min(len(scores), self.settings.hard_from + len(one.also))
        first = np.argpartition(-scores, most - 1)[:most]
        first = first[np.argsort(-scores[first], kind="stable")]
        right = set(one.also)
        wrong = [
            int(n) for n in first if scores[n] > 0 and int(self.store[int(n)][2][1]) not in right
        ]
        among = wrong[: self.settings.hard_from]
        count = min(self.settings.hard_negatives, len(among))
        return [int(n) for n in rng.choice(among, count, replace=False)] if count else []


def marked(ids: Ids | Sequence[int]) -> list[int]:
    """Put [CLS] before a text and [SEP] after it."""
    return [special.CLS, *map(int, ids), special.SEP]


def _span(ids: Ids, limits: tuple[int, int], rng: np.random.Generator) -> Ids:
    """Draw a span, its length first."""
    length = min(len(ids), int(rng.integers(limits[0], limits[1] + 1)))
    start = int(rng.integers(len(ids) - length + 1))
    return ids[start : start + length]


def _thinned(ids: Ids, share: float, rng: np.random.Generator) -> Ids:
    """Leave out a share of the tokens; one stays at least."""
    if not share or len(ids) < 2:
        return ids
    kept = ids[rng.random(len(ids)) >= share]
    return kept if len(kept) else ids[:1]
