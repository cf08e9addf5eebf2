"""Erasure: whether the answer leans on the words that were looked at.

    drop(words) = p(answer | text) - p(answer | text without words)

The words with the highest scores are erased, as many as a share of the text, and as often as many
words are drawn at random. If looking says what mattered, the first drop is larger than the second
(DeYoung et al. 2020, "comprehensiveness", against the chance that such a figure needs beside it).
An attention map is never shown without this figure.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

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
    """What erasing words of one text did to the probability of its answer."""

    words: int
    """How many words were erased at a time."""
    whole: float
    """Probability of the answer to the whole text."""
    top: float
    """How much it dropped without the words of the highest scores."""
    chance: float
    """How much it dropped without random words, on average."""
    low: float
    high: float
    """Between these lie 95% of the random drops."""

    @property
    def faithful(self) -> bool:
        """Whether the words looked at mattered more than nearly all random words."""
        return self.top > self.high

    def as_json(self) -> dict[str, float | int | bool]:
        """Return the figures under the names that scripts rely on."""
        return {**self._asdict(), "faithful": self.faithful}


class Mean(NamedTuple):
    """The advantage of top words over random words, over many texts."""

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
    count: int | None = None,
    draws: int = DRAWS,
) -> Erasure:
    """Erase the top words, and as many random words ``draws`` times over.

    ``count`` is how many words are erased; left out, :data:`SHARE` of them.
    """
    found = np.asarray(scores, dtype=np.float64)
    words = len(found)
    if words < 2:
        whole = float(probabilities(np.ones((1, words), dtype=bool))[0])
        return Erasure(0, whole, 0.0, 0.0, 0.0, 0.0)
    erased = count if count is not None else max(1, round(SHARE * words))
    erased = min(erased, words - 1)
    masks = np.ones((2 + draws, words), dtype=bool)
    masks[1, np.argsort(-found, kind="stable")[:erased]] = False
    for mask in masks[2:]:
        mask[generator.permutation(words)[:erased]] = False
    told = np.asarray(probabilities(masks), dtype=np.float64)
    random = told[0] - told[2:]
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(random, [rest, 1 - rest])
    drops = float(told[0] - told[1]), float(random.mean())
    return Erasure(erased, float(told[0]), *drops, float(low), float(high))


def mean_erasure(
    erasures: Sequence[Erasure], *, generator: np.random.Generator, resamples: int = 2000
) -> Mean:
    """Average over texts, with an interval by bootstrap."""
    tops = np.asarray([one.top for one in erasures])
    chances = np.asarray([one.chance for one in erasures])
    gains = tops - chances
    drawn = generator.integers(len(gains), size=(resamples, len(gains)))
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(gains[drawn].mean(axis=1), [rest, 1 - rest])
    return Mean(
        len(gains),
        float(tops.mean()),
        float(chances.mean()),
        float(gains.mean()),
        float(low),
        float(high),
    )


def in_words(erasure: Erasure, answer: str) -> str:
    """Say in one sentence what was found."""
    if not erasure.words:
        return "Faithfulness: the text has too few words to erase any."
    many = f"{erasure.words} word{'s' * (erasure.words > 1)}"
    found = (
        "the answer does lean on them"
        if erasure.faithful
        else "random words matter about as much, so do not read the shading as the reason"
    )
    return (
        f"Faithfulness: without the {many} looked at most, the probability of {answer!r} "
        f"{_moves(erasure.top)} points (from {erasure.whole:.0%}); without {many} drawn at "
        f"random it {_moves(erasure.chance)} (95% of draws: {_points(-erasure.high)} to "
        f"{_points(-erasure.low)}): {found}."
    )


def _moves(drop: float) -> str:
    return f"{'falls' if drop >= 0 else 'rises'} by {_points(abs(drop))}"


def _points(change: float) -> str:
    return f"{100 * change:.1f}".replace("-0.0", "0.0")
