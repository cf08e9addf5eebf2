"""A memory of labelled texts: what those nearest to a text were labelled.

    weight(w, d) = (1 + ln count) · ln(N / n(w))²        each text's weights brought to length 1
    near(d, e)   = Σ over words w of  weight(w, d)·weight(w, e)
    say(y | d)   = Σ near²·vote(e, y) / (Σ near² + 0.1)       over the ten texts e nearest to d

A network has to forget most of what it reads once; what is looked up is not forgotten (Khandelwal
et al. 2020 do so for language models). Rare words decide, so near is what names the same things:
reviews of one film, tickets of one customer. The 0.1 keeps texts quiet that are near to none.

Kept are hashes of words, not the words: they can be tried out, but not read.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.labelling.word_bags import Bags, counted

NEAREST = 10
QUIET = 0.1
COMMON, FEW = 0.1, 100  # a word in more than a tenth of many texts tells none of them apart


class Neighbour(NamedTuple):
    """A labelled text that was looked at."""

    example: int
    """Which of the training examples, from 1."""
    near: float
    votes: tuple[float, ...]
    """What it says of each column."""


Looked = list[Neighbour]
Weighted = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Texts, words and weights, text by text."""


class Neighbours:
    """Labelled texts that can be asked.

    Args:
        bags: The words of each.
        counts: How often each word stands there.
        votes: What each text says of each column, from -1 or 0 to 1.
        examples: Which of the training examples each was, from 0.

    """

    def __init__(
        self, bags: Bags, counts: NDArray[np.int32], votes: Tensor, examples: Tensor
    ) -> None:
        self.bags, self.counts = bags, counts
        self.votes, self.examples = votes, examples
        every, having = np.unique(bags.rows, return_counts=True)
        kept = having <= max(FEW, COMMON * len(bags))
        self.words = every[kept]
        self.rarity = np.log(len(bags) / having[kept]) ** 2
        texts, places, weights = self._weighted(bags, counts)
        order = np.argsort(places, kind="stable")
        self.owners, self.weights = texts[order], weights[order]
        self.starts = np.concatenate([[0], np.cumsum(having[kept])])
        """Word n stands in texts ``owners[starts[n] : starts[n + 1]]``."""

    @classmethod
    def of(cls, texts: Iterable[str], votes: Tensor, *, every: int = 1) -> "Neighbours":
        """Remember texts, each the ``every``-th of the training examples."""
        bags, counts = counted(texts)
        return cls(bags, counts, votes, torch.arange(len(votes)) * every)

    def parameters(self) -> dict[str, Tensor]:
        """Return what has to be kept."""
        return {
            "rows": torch.from_numpy(self.bags.rows),
            "offsets": torch.from_numpy(self.bags.offsets),
            "counts": torch.from_numpy(self.counts),
            "votes": self.votes,
            "examples": self.examples,
        }

    @classmethod
    def load(cls, parameters: Mapping[str, Tensor]) -> "Neighbours":
        """Take up what was kept."""
        bags = Bags(parameters["rows"].numpy(), parameters["offsets"].numpy())
        counts = parameters["counts"].numpy()
        return cls(bags, counts, parameters["votes"], parameters["examples"])

    def ask(self, texts: Sequence[str]) -> tuple[Float[Tensor, "text column"], list[Looked]]:
        """Return what the nearest say of each text, and which they are, the nearest first."""
        said = torch.zeros(len(texts), self.votes.shape[1])
        looked: list[Looked] = []
        asked, places, weights = self._weighted(*counted(texts))
        cuts = np.searchsorted(asked, np.arange(len(texts) + 1))
        for text, (begin, end) in enumerate(pairwise(cuts)):
            near, which = self._nearest(places[begin:end], weights[begin:end])
            shares = near.square() / (near.square().sum() + QUIET)
            said[text] = shares @ self.votes[which]
            numbers = (self.examples[which] + 1).tolist()
            votes = map(tuple, self.votes[which].tolist())
            told = zip(numbers, near.tolist(), votes, strict=True)
            looked.append([Neighbour(*one) for one in told])
        return said, looked

    def _nearest(
        self, places: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> tuple[Float[Tensor, " near"], Int[Tensor, " near"]]:
        """Return how near the nearest are that share a word at all, and their numbers."""
        near = np.zeros(len(self.bags))
        for place, weight in zip(places, weights, strict=True):
            own = slice(self.starts[place], self.starts[place + 1])
            near[self.owners[own]] += weight * self.weights[own]
        best = torch.from_numpy(near).float().topk(min(NEAREST, len(near)))
        some = best.values > 0
        return best.values[some], best.indices[some]

    def _weighted(self, bags: Bags, counts: NDArray[np.int32]) -> Weighted:
        """Weigh the known words; the weights of each text have length 1."""
        texts = np.repeat(np.arange(len(bags)), np.diff(bags.offsets))
        places = np.searchsorted(self.words, bags.rows)
        known = np.append(self.words, -1)[places] == bags.rows
        texts, places = texts[known], places[known]
        weights = (1 + np.log(counts[known])) * self.rarity[places]
        squares = np.bincount(texts, weights=weights**2, minlength=len(bags))
        return texts, places, weights / np.sqrt(squares)[texts].clip(min=1e-12)
