"""Erasure: whether an answer leans on the words that a reading ranks highest.

    comprehensiveness = p(answer | text) - p(answer | text without those words)     high is good
    sufficiency       = p(answer | text) - p(answer | those words alone)            low is good

Each beside the same with as many other words drawn at random, and the interval that holds 95% of
the draws (DeYoung et al. 2020; random erasure as the chance level). Other words: in a short text a
random draw would often hit the very words that are being tested. No look and no reading is shown
without this figure.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE = 0.15  # of a text's words that are erased, at least one
DRAWS = 40
CENTRAL = 0.95

Masks = NDArray[np.bool_]
"""By variant and word: True where the word is kept."""
Probabilities = Callable[[Masks], NDArray[np.floating]]
"""From masks of kept words to the probability of the answer, one for each variant."""


class Erasure(NamedTuple):
    """What leaving words of one text out did to the probability of its answer."""

    words: int
    """How many words were ranked highest."""
    whole: float
    """Probability of the answer to the whole text."""
    top: float
    """How much it dropped for the words ranked highest."""
    chance: float
    """How much it dropped for as many others, on average."""
    low: float
    high: float
    """Between these lie 95% of the random drops."""


class Faithfulness(NamedTuple):
    """What happened to the probability of an answer without some words, and with these alone."""

    comprehensiveness: Erasure
    """Without the words ranked highest."""
    sufficiency: Erasure
    """With these words alone; a small drop means that they suffice."""

    @property
    def faithful(self) -> bool:
        """Whether without the words ranked highest it fell, and by more than nearly all others."""
        return self.comprehensiveness.top > max(0.0, self.comprehensiveness.high)

    @property
    def suffices(self) -> bool:
        """Whether these words alone kept most of the answer, and more than nearly all others."""
        alone = self.sufficiency
        return alone.top < alone.low and alone.top < alone.whole / 2

    def as_json(self, answer: str) -> dict[str, Any]:
        """Return the figures and the sentence under the names that scripts rely on."""
        return {
            "comprehensiveness": _figures(self.comprehensiveness),
            "sufficiency": _figures(self.sufficiency),
            "words": self.comprehensiveness.words,
            "whole": self.comprehensiveness.whole,
            "faithful": self.faithful,
            "suffices": self.suffices,
            "sentence": self.in_words(answer),
        }

    def in_words(self, answer: str) -> str:
        """Say in plain words what was found."""
        without, alone = self.comprehensiveness, self.sufficiency
        if not without.words:
            return "Too few words to leave any out: nothing can be said of faithfulness."
        many = f"{without.words} word{'s' * (without.words > 1)}"
        verdict = {
            (True, True): "the answer leans on them, and they nearly suffice for it",
            (True, False): "the answer leans on them, among others",
            (False, True): "they suffice for the answer, but it does not need them",
            (False, False): "random words do as well: do not take this reading for the reason",
        }[self.faithful, self.suffices]
        return (
            f"Without the {many} ranked highest {answer!r} goes from {without.whole:.0%} to "
            f"{without.whole - without.top:.0%}; without as many others, {_between(without)}. With "
            f"only these it is {alone.whole - alone.top:.0%}; with as many others, "
            f"{_between(alone)}. So {verdict}."
        )


class Mean(NamedTuple):
    """The advantage of erasing top words over erasing others, over many texts."""

    texts: int
    top: float
    chance: float
    advantage: float
    low: float
    high: float
    """95% interval of the advantage, by resampling texts."""


def erase(
    probabilities: Probabilities,
    scores: Sequence[float] | NDArray[np.floating],
    *,
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Faithfulness:
    """Leave out the words of the highest scores, keep them alone, and do so with others."""
    words = len(scores)
    count = max(1, round(SHARE * words))
    if words < 2 * count:
        whole = float(probabilities(np.ones((1, words), dtype=bool))[0])
        none = Erasure(0, whole, 0.0, 0.0, 0.0, 0.0)
        return Faithfulness(none, none)
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    marked = np.zeros((1 + draws, words), dtype=bool)
    marked[0, order[:count]] = True
    for mark in marked[1:]:
        mark[generator.permutation(order[count:])[:count]] = True
    masks = np.concatenate([np.ones((1, words), dtype=bool), ~marked, marked])
    told = np.asarray(probabilities(masks), dtype=np.float64)
    drops = told[0] - told[1:]
    return Faithfulness(*(_erasure(count, float(told[0]), part) for part in np.split(drops, 2)))


def mean_erasure(
    found: Sequence[Faithfulness], *, generator: np.random.Generator, resamples: int = 2000
) -> Mean:
    """Average what leaving words out costs over texts, with an interval by bootstrap."""
    tops = np.asarray([one.comprehensiveness.top for one in found])
    chances = np.asarray([one.comprehensiveness.chance for one in found])
    gains = tops - chances
    drawn = generator.integers(len(gains), size=(resamples, len(gains)))
    low, high = _central(gains[drawn].mean(axis=1))
    top, chance, gain = (float(each.mean()) for each in (tops, chances, gains))
    return Mean(len(gains), top, chance, gain, low, high)


def _erasure(count: int, whole: float, drops: NDArray[np.float64]) -> Erasure:
    """Set the first drop beside those of the random draws."""
    return Erasure(count, whole, float(drops[0]), float(drops[1:].mean()), *_central(drops[1:]))


def _central(values: NDArray[np.float64]) -> tuple[float, float]:
    """Say between what 95% of the values lie."""
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(values, [rest, 1 - rest])
    return float(low), float(high)


def _figures(found: Erasure) -> dict[str, float]:
    return {"top": found.top, "random": found.chance, "low": found.low, "high": found.high}


def _between(found: Erasure) -> str:
    """Say between which probabilities 95% of the draws lie."""
    return f"{found.whole - found.high:.0%} to {found.whole - found.low:.0%} in 95 of 100 draws"
