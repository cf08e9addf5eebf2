"""A memory of labelled texts: what those nearest to a text were labelled.

    weight(w, d) = (1 + ln count) · ln(N / n(w))          each text's weights brought to length 1
    like(d, e)   = Σ over words w of  weight(w, d)·weight(w, e)
    usual(d)     = mean of the ten highest like(d, ·)
    near(d, e)   = like(d, e) / √(usual(d)·usual(e))
    say(y | d)   = Σ near³·vote(e, y) / (Σ near³ + 5)         over the ten texts e nearest to d

A network has to forget most of what it reads once; what is looked up is not forgotten (Khandelwal
et al. 2020 do so for language models). Rare words decide, so near is what names the same things:
reviews of one film, tickets of one customer. Some texts are rather like many: they would be
everybody's neighbours, if near were not measured by what each is used to (Zelnik-Manor and Perona
2004). The 5 keeps texts quiet that are near to none.

Kept are hashes of words, not the words: they can be tried out, but not read.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.hashed_ngrams import Bags, counted, runs_of

NEAREST = 10
LOUD, QUIET = 3, 5.0
COMMON, FEW = 0.1, 100  # a word in more than a tenth of many texts tells none of them apart
COMPARED = 1 << 15  # texts among which each one's usual likeness is found
LEAST = 0.25  # of what texts are used to on average, for one that is like none

Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]


class Neighbour(NamedTuple):
    """A labelled text that was looked at."""

    example: int
    """Which of the training examples, from 1."""
    near: float
    """1 is as near as the nearest texts usually are."""
    votes: tuple[float, ...]
    """What it says of each column."""


Looked = list[Neighbour]


class Weighted(NamedTuple):
    """Texts as weighted words, one text after another."""

    texts: Numbers
    words: Numbers
    weights: Weights

    def each(self, texts: int) -> Iterable[tuple[Numbers, Weights]]:
        """Return the words and weights of every one of ``texts`` texts."""
        cuts = np.searchsorted(self.texts, np.arange(texts + 1))
        return ((self.words[a:b], self.weights[a:b]) for a, b in pairwise(cuts))


class Neighbours:
    """Labelled texts that can be asked.

    Args:
        bags: The words of each.
        counts: How often each word stands there.
        votes: What each text says of each column, from -1 or 0 to 1.
        examples: Which of the training examples each was, from 0.
        usual: How like its nearest each is, where that was found before.

    """

    def __init__(
        self,
        bags: Bags,
        counts: NDArray[np.int32],
        votes: Tensor,
        examples: Tensor,
        usual: Tensor | None = None,
    ) -> None:
        self.bags, self.counts = bags, counts
        self.votes, self.examples = votes, examples
        every, having = np.unique(bags.rows, return_counts=True)
        kept = having <= max(FEW, COMMON * len(bags))
        self.words = every[kept]
        self.rarity = np.log(len(bags) / having[kept])
        own = self._weighted(bags, counts)
        self.likeness = Likeness(own, texts=len(bags), words=len(self.words))
        self.usual = self._usual(own) if usual is None else usual.numpy()
        self.least = LEAST * float(self.usual.mean()) or 1.0

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
            "usual": torch.from_numpy(self.usual),
        }

    @classmethod
    def load(cls, parameters: Mapping[str, Tensor]) -> "Neighbours":
        """Take up what was kept."""
        bags = Bags(parameters["rows"].numpy(), parameters["offsets"].numpy())
        counts, usual = parameters["counts"].numpy(), parameters.get("usual")
        return cls(bags, counts, parameters["votes"], parameters["examples"], usual)

    def ask(self, texts: Sequence[str]) -> tuple[Float[Tensor, "text column"], list[Looked]]:
        """Return what the nearest say of each text, and which they are, the nearest first."""
        said = torch.zeros(len(texts), self.votes.shape[1])
        looked: list[Looked] = []
        for text, asked in enumerate(self._weighted(*counted(texts)).each(len(texts))):
            like = self.likeness.of(*asked)
            usual = max(_usual(like, NEAREST), self.least)
            measured = like / np.sqrt(usual * np.maximum(self.usual, self.least))
            near, which = torch.from_numpy(measured).float().topk(min(NEAREST, len(measured)))
            near, which = near[near > 0], which[near > 0]
            shares = near**LOUD / ((near**LOUD).sum() + QUIET)
            said[text] = shares @ self.votes[which]
            numbers = (self.examples[which] + 1).tolist()
            votes = map(tuple, self.votes[which].tolist())
            told = zip(numbers, near.tolist(), votes, strict=True)
            looked.append([Neighbour(*one) for one in told])
        return said, looked

    def _usual(self, own: Weighted) -> NDArray[np.float32]:
        """Find how like its nearest each text is; of very many, by every nth of the others."""
        texts = len(self.bags)
        every = -(-texts // COMPARED)
        some = self.likeness
        if every > 1:
            kept = own.texts % every == 0
            part = Weighted(own.texts[kept] // every, own.words[kept], own.weights[kept])
            some = Likeness(part, texts=-(-texts // every), words=len(self.words))
        nearest = max(1, NEAREST // every)
        usual = np.zeros(texts, dtype=np.float32)
        for text, words in enumerate(own.each(texts)):
            like = some.of(*words)
            if text % every == 0:
                like[text // every] = 0.0  # itself
            usual[text] = _usual(like, nearest)
        return usual

    def _weighted(self, bags: Bags, counts: NDArray[np.int32]) -> Weighted:
        """Weigh the known words; the weights of each text have length 1."""
        texts = np.repeat(np.arange(len(bags)), np.diff(bags.offsets))
        places = np.searchsorted(self.words, bags.rows)
        known = np.append(self.words, -1)[places] == bags.rows
        texts, places = texts[known], places[known]
        weights = (1 + np.log(counts[known])) * self.rarity[places]
        squares = np.bincount(texts, weights=weights**2, minlength=len(bags))
        return Weighted(texts, places, weights / np.sqrt(squares)[texts].clip(min=1e-12))


class Likeness:
    """Finds how like each of many texts is to one, by the words that they share.

    Args:
        known: The texts.
        texts: How many there are.
        words: How many different words there are.

    """

    def __init__(self, known: Weighted, *, texts: int, words: int) -> None:
        order = np.argsort(known.words, kind="stable")
        self.texts, self.owners, self.weights = texts, known.texts[order], known.weights[order]
        self.begins = np.searchsorted(known.words[order], np.arange(words + 1))
        """Word n stands in texts ``owners[begins[n] : begins[n + 1]]``."""

    def of(self, words: Numbers, weights: Weights) -> Weights:
        """Return the cosine with every text."""
        begins, counts = self.begins[words], self.begins[words + 1] - self.begins[words]
        places = runs_of(begins, counts)
        shared = np.repeat(weights, counts) * self.weights[places]
        found = np.bincount(self.owners[places], weights=shared, minlength=self.texts)
        return found.astype(np.float64, copy=False)  # of no words, whole numbers come back


def _usual(like: Weights, nearest: int) -> float:
    """Return the mean of the highest."""
    if len(like) > nearest:
        like = np.partition(like, len(like) - nearest)[-nearest:]
    return float(like.mean())
