"""Faithfulness: whether an answer leans on the words that a reading ranks highest.

    comprehensiveness = p(answer | text) - p(answer | text without those words)     high is good
    sufficiency       = p(answer | text) - p(answer | those words alone)            low is good

Each beside the same with as many other words drawn at random, and the interval that holds 95% of
the draws (DeYoung et al. 2020; random erasure as the chance level). Other words: in a short text a
random draw would often hit the very words that are being tested.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.explain.erasure import CENTRAL, SHARE, Erasure, Probabilities

DRAWS = 40


class Faithfulness(NamedTuple):
    """What happened to the probability of an answer without some words, and with these alone."""

    comprehensiveness: Erasure
    """Without the words ranked highest."""
    sufficiency: Erasure
    """With these words alone; a small drop means that they suffice."""

    @property
    def faithful(self) -> bool:
        """Whether the words ranked highest mattered more than nearly all random ones."""
        return self.comprehensiveness.faithful

    @property
    def suffices(self) -> bool:
        """Whether these words alone kept most of the answer, and more than nearly all others."""
        alone = self.sufficiency
        return alone.top < alone.low and alone.top < alone.whole / 2

    def as_json(self) -> dict[str, Any]:
        """Return the figures under the names that scripts rely on."""
        return {
            "comprehensiveness": _figures(self.comprehensiveness),
            "sufficiency": _figures(self.sufficiency),
            "words": self.comprehensiveness.words,
            "whole": self.comprehensiveness.whole,
            "faithful": self.faithful,
            "suffices": self.suffices,
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


def faithfulness(
    probabilities: Probabilities,
    scores: NDArray[np.floating],
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
    order = np.argsort(-scores, kind="stable")
    marked = np.zeros((1 + draws, words), dtype=bool)
    marked[0, order[:count]] = True
    for mark in marked[1:]:
        mark[generator.permutation(order[count:])[:count]] = True
    masks = np.concatenate([np.ones((1, words), dtype=bool), ~marked, marked])
    told = np.asarray(probabilities(masks), dtype=np.float64)
    drops = told[0] - told[1:]
    return Faithfulness(*(_erasure(count, float(told[0]), part) for part in np.split(drops, 2)))


def _erasure(count: int, whole: float, drops: NDArray[np.float64]) -> Erasure:
    """Set the first drop beside those of the random draws."""
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(drops[1:], [rest, 1 - rest])
    return Erasure(count, whole, float(drops[0]), float(drops[1:].mean()), float(low), float(high))


def _figures(found: Erasure) -> dict[str, float]:
    return {"top": found.top, "random": found.chance, "low": found.low, "high": found.high}


def _between(found: Erasure) -> str:
    """Say between which probabilities 95% of the draws lie."""
    return f"{found.whole - found.high:.0%} to {found.whole - found.low:.0%} in 95 of 100 draws"
