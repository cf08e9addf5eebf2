"""Erasure: whether an answer depends on the words that an attribution ranks highest.

    comprehensiveness = p(answer | text) - p(answer | text without those words)     high is good
    sufficiency       = p(answer | text) - p(answer | those words alone)            low is good

Each is compared with erasing as many other words drawn at random: their mean, and the interval
that holds 95% of the draws (DeYoung et al. 2020; random erasure as the chance level). Other words,
because in a short text a random draw would often hit the words under test. No attribution is shown
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
    """How far erasing words of one text lowers the probability of its answer."""

    words: int
    """How many words are erased."""
    whole: float
    """Probability of the answer to the whole text."""
    top: float
    """The drop for the words ranked highest."""
    chance: float
    """The mean drop for as many other words."""
    low: float
    high: float
    """Between these lie 95% of the random drops."""


class Faithfulness(NamedTuple):
    """Comprehensiveness and sufficiency of the words that an attribution ranks highest."""

    comprehensiveness: Erasure
    """Without the words ranked highest."""
    sufficiency: Erasure
    """With these words alone; a small drop means that they are sufficient."""

    @property
    def faithful(self) -> bool:
        """Whether erasing the words lowers the probability, and by more than nearly all others."""
        return self.comprehensiveness.top > max(0.0, self.comprehensiveness.high)

    @property
    def suffices(self) -> bool:
        """Whether these words alone keep most of the probability, more than nearly all others."""
        alone = self.sufficiency
        return alone.top < alone.low and alone.top < alone.whole / 2

    def as_json(self, answer: str) -> dict[str, Any]:
        """Return the figures and the sentence under the names that scripts rely on."""
        return {
            "comprehensiveness": _as_json(self.comprehensiveness),
            "sufficiency": _as_json(self.sufficiency),
            "words": self.comprehensiveness.words,
            "whole": self.comprehensiveness.whole,
            "faithful": self.faithful,
            "suffices": self.suffices,
            "sentence": self.describe(answer),
        }

    def describe(self, answer: str) -> str:
        """Say in plain words what erasing the words does."""
        without, alone = self.comprehensiveness, self.sufficiency
        if not without.words:
            return "Too few words to erase any: faithfulness cannot be measured."
        many = f"{without.words} word{'s' * (without.words > 1)}"
        verdict = {
            (True, True): "the answer depends on them, and they are nearly sufficient",
            (True, False): "the answer depends on them, among others",
            (False, True): "they are sufficient for the answer, but not necessary",
            (False, False): "random words do as well: this attribution is not the reason",
        }[self.faithful, self.suffices]
        return (
            f"Without the {many} ranked highest {answer!r} goes from {without.whole:.0%} to "
            f"{without.whole - without.top:.0%}; without as many others, "
            f"{_describe_draws(without)}. With only these it is {alone.whole - alone.top:.0%}; "
            f"with as many others, {_describe_draws(alone)}. So {verdict}."
        )


class MeanErasure(NamedTuple):
    """The mean drops over many texts, and how far the top words exceed the others."""

    texts: int
    top: float
    chance: float
    advantage: float
    low: float
    high: float
    """95% interval of the advantage, by bootstrap over texts."""


def erase(
    probabilities: Probabilities,
    scores: Sequence[float] | NDArray[np.floating],
    *,
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Faithfulness:
    """Erase the words of the highest scores, keep them alone, and do the same with other words."""
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
    found = np.asarray(probabilities(masks), dtype=np.float64)
    drops = found[0] - found[1:]
    return Faithfulness(*(_compare(count, float(found[0]), part) for part in np.split(drops, 2)))


def average_erasure(
    found: Sequence[Faithfulness], *, generator: np.random.Generator, resamples: int = 2000
) -> MeanErasure:
    """Average the drops over texts, with an interval by bootstrap."""
    tops = np.asarray([one.comprehensiveness.top for one in found])
    chances = np.asarray([one.comprehensiveness.chance for one in found])
    gains = tops - chances
    drawn = generator.integers(len(gains), size=(resamples, len(gains)))
    low, high = _find_interval(gains[drawn].mean(axis=1))
    top, chance, gain = (float(each.mean()) for each in (tops, chances, gains))
    return MeanErasure(len(gains), top, chance, gain, low, high)


def _compare(count: int, whole: float, drops: NDArray[np.float64]) -> Erasure:
    """Compare the first drop with those of the random draws."""
    return Erasure(
        count, whole, float(drops[0]), float(drops[1:].mean()), *_find_interval(drops[1:])
    )


def _find_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the interval that holds 95% of the values."""
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(values, [rest, 1 - rest])
    return float(low), float(high)


def _as_json(found: Erasure) -> dict[str, float]:
    return {"top": found.top, "random": found.chance, "low": found.low, "high": found.high}


def _describe_draws(found: Erasure) -> str:
    """Say between which probabilities 95% of the draws lie."""
    return f"{found.whole - found.high:.0%} to {found.whole - found.low:.0%} in 95 of 100 draws"
