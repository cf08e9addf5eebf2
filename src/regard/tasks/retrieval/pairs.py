"""Training pairs, drawn at every step.

    crops      two spans of one document, drawn independently, each losing some tokens
               (Contriever: Izacard et al. 2022); the query is the shorter one
    title      the title is the query, a span of the body its document
    labelled   a query, and the beginning of its document

Negatives are the other pairs of the batch, and hard negatives that BM25 ranks high (Karpukhin et
al. 2020). Documents that are known to be relevant are excluded.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import Batch, pad
from regard.data.store import Store
from regard.recipe.retrieval import RetrievalSettings
from regard.tasks.retrieval.bm25 import Bm25
from regard.text import special

UNTITLED, TITLED, LABELLED = range(3)
"""Kinds of pairs: the first number of the third field of the store."""
Ids = NDArray[np.uint32]


class Drawn(NamedTuple):
    """One pair."""

    query: Ids
    answer: Ids
    owner: int
    """Number of the relevant document."""
    also: list[int]
    """Numbers of all relevant documents, the first one included."""


@dataclass(frozen=True)
class Even:
    """Examples that count as equally long, so that every batch has as many negatives."""

    examples: int
    length: int

    def __len__(self) -> int:
        return self.examples

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these examples, one column."""
        return np.full((len(numbers), 1), self.length)


class Pairs:
    """Draws pairs from a store.

    Args:
        store: Examples as two texts and the numbers of their tag.
        settings: How pairs are drawn.
        longest: The most tokens of a text, special ones not counted.

    """

    def __init__(self, store: Store, settings: RetrievalSettings, *, longest: int) -> None:
        self.store, self.settings, self.longest = store, settings, longest
        self.words: Bm25[int] | None = None
        if settings.hard_negatives:
            self.words = Bm25.of(store[number][1].tolist() for number in range(len(store)))

    def batch(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Return queries; documents, negatives last; relevant numbers; and document numbers."""
        drawn = [self._draw(self.store[int(number)], rng) for number in numbers]
        answers = [one.answer for one in drawn]
        owners = [one.owner for one in drawn]
        for number, one in zip(numbers, drawn, strict=True):
            for wrong in self._hard_negatives(int(number), one, rng):
                _, text, tag = self.store[wrong]
                answers.append(_span(text, self._limits(self.settings.document_length), rng))
                owners.append(int(tag[1]))
        fields = (
            pad([special.frame(map(int, one.query)) for one in drawn], filler=special.PAD),
            pad([special.frame(map(int, answer)) for answer in answers], filler=special.PAD),
            pad([one.also for one in drawn], filler=-1),
            pad([[owner] for owner in owners], filler=-1),
        )
        return Batch(fields, numbers)

    def _draw(self, example: tuple[Ids, ...], rng: np.random.Generator) -> Drawn:
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
        first, second = (_delete_tokens(span, settings.deletion, rng) for span in spans)
        return Drawn(first, second, owner, also)

    def _limits(self, limits: tuple[int, int]) -> tuple[int, int]:
        return min(limits[0], self.longest), min(limits[1], self.longest)

    def _hard_negatives(self, number: int, one: Drawn, rng: np.random.Generator) -> list[int]:
        """Draw documents that BM25 ranks high though they are not known to be relevant."""
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


def _span(ids: Ids, limits: tuple[int, int], rng: np.random.Generator) -> Ids:
    """Draw a span, its length first."""
    length = min(len(ids), int(rng.integers(limits[0], limits[1] + 1)))
    start = int(rng.integers(len(ids) - length + 1))
    return ids[start : start + length]


def _delete_tokens(ids: Ids, share: float, rng: np.random.Generator) -> Ids:
    """Delete a share of the tokens; at least one stays."""
    if not share or len(ids) < 2:
        return ids
    kept = ids[rng.random(len(ids)) >= share]
    return kept if len(kept) else ids[:1]
