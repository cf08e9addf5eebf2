"""Erasure: whether an answer depends on the words that an attribution ranks highest.

    comprehensiveness = p(answer | text) - p(answer | text without those words)     high is good
    sufficiency       = p(answer | text) - p(answer | those words alone)            low is good

Each is compared with erasing as many other words drawn at random: their mean, and the interval
that holds 95% of the draws (DeYoung et al. 2020; random erasure as the chance level). Other words,
because in a short text a random draw would often hit the words under test. No attribution is shown
without this figure.

An answer depends on the words if its probability drops by more than nearly all random words of the
same number lower it, and by at least :func:`least_effect`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.draw.label import label

SHARE = 0.15  # of a text's words that are erased, at least one
DRAWS = 40
CENTRAL = 0.95
LEAST = 0.05  # of probability; docs/explain.md gives the reason
VISIBLE = 0.005  # less than this is printed as the same percentage
MOST_NAMED = 5

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
    erased: tuple[str, ...] = ()
    """The words ranked highest, the highest first."""
    score_range: tuple[float, float] | None = None
    """What 0 and 1 stand for if the answer is a score instead of a probability."""

    @property
    def faithful(self) -> bool:
        """Whether the answer depends on the words: measurably, and more than on others."""
        drop = self.comprehensiveness
        return is_dependent(drop.whole, drop.top, drop.high)

    @property
    def suffices(self) -> bool:
        """Whether these words alone keep most of the probability, and others measurably less."""
        alone = self.sufficiency
        better = alone.low - alone.top
        return better >= least_effect(alone.whole) and alone.top < alone.whole / 2

    def as_json(self, answer: str) -> dict[str, Any]:
        """Return the figures and the sentence under the names that scripts rely on."""
        return {
            "comprehensiveness": _as_json(self.comprehensiveness),
            "sufficiency": _as_json(self.sufficiency),
            "words": self.comprehensiveness.words,
            "erased": list(self.erased),
            "whole": self.comprehensiveness.whole,
            "faithful": self.faithful,
            "suffices": self.suffices,
            "sentence": self.describe(answer),
        }

    def describe(self, answer: str) -> str:
        """Say in plain words what erasing the words does."""
        without, alone = self.comprehensiveness, self.sufficiency
        if not without.words:
            return "Faithfulness cannot be measured: too few words to erase."
        whole, less = self._write(without.whole), self._write(without.whole - without.top)
        score = self.score_range is not None
        subject = f"The score of {whole}" if score else f"The label {quote(answer)}"
        these = count_words(without.words, "this word", "these {} words")
        others = count_words(without.words, "another word", "{} other words")
        return (
            f"{subject} {self._verdict()}. Without {these} {'it' if score else 'its probability'} "
            f"goes from {whole} to {less}, without {others} to {self._write_draws(without)}. With "
            f"{these} alone it is {self._write(alone.whole - alone.top)}, with {others} alone "
            f"{self._write_draws(alone)}."
        )

    def _verdict(self) -> str:
        drop = self.comprehensiveness
        verdict = judge(drop.whole, drop.top, drop.high, name_words(self.erased))
        if self.faithful:
            return f"{verdict}, {'almost alone' if self.suffices else 'among other words'}"
        words = count_words(drop.words, "this word alone is", "these words alone are")
        return f"{verdict}, although {words} sufficient" if self.suffices else verdict

    def _write(self, share: float) -> str:
        if self.score_range is None:
            return f"{share:.0%}"
        low, high = self.score_range
        return f"{low + (high - low) * share:.3g}"

    def _write_draws(self, found: Erasure) -> str:
        """Say between which values 95% of the draws lie."""
        ends = (self._write(found.whole - found.high), self._write(found.whole - found.low))
        return f"{write_interval(*ends)} (95% of random draws)"


class MeanErasure(NamedTuple):
    """The mean drops over many texts, and how far the top words exceed the others."""

    texts: int
    top: float
    chance: float
    advantage: float
    low: float
    high: float
    """95% interval of the advantage, by bootstrap over texts."""


def least_effect(whole: float) -> float:
    """Return the least drop of a probability that counts as an effect.

    Five points; half of a probability below a tenth; never less than can be seen in print.
    """
    return max(VISIBLE, min(LEAST, whole / 2))


def is_dependent(whole: float, drop: float, others: float) -> bool:
    """Say whether a drop is an effect, and greater than those of nearly all ``others``."""
    return drop >= least_effect(whole) and drop > others


def judge(whole: float, drop: float, others: float, named: str) -> str:
    """Say whether an answer depends on the words ``named``."""
    if is_dependent(whole, drop, others):
        return f"depends on {named}"
    if max(drop, others) >= least_effect(whole):
        return f"depends no more on {named} than on other words"
    return f"does not depend measurably on {named}"


def quote(word: str) -> str:
    """Quote a word or an answer on one line."""
    return f'"{label(word.replace("▁", " ").strip(), 40)}"'


def name_words(words: Sequence[str]) -> str:
    """List words, the first few by name."""
    named = [quote(word) for word in words[:MOST_NAMED]]
    if rest := len(words) - len(named):
        named.append(count_words(rest, "1 more word", "{} more words"))
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def write_interval(low: str, high: str) -> str:
    """Write the ends of an interval, or the one number that it is."""
    return low if low == high else f"between {low} and {high}"


def count_words(count: int, one: str, more: str) -> str:
    """Write the singular for one, else the plural with the count in it."""
    return one if count == 1 else more.format(count)


def erase(
    probabilities: Probabilities,
    scores: Sequence[float] | NDArray[np.floating],
    *,
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Faithfulness:
    """Erase the words of the highest scores, keep them alone, and do the same with other words."""
    words = len(scores)
    count = count_erased(words)
    if words < 2 * count:
        whole = float(probabilities(np.ones((1, words), dtype=bool))[0])
        none = Erasure(0, whole, 0.0, 0.0, 0.0, 0.0)
        return Faithfulness(none, none)
    order = rank(scores)
    marked = np.zeros((1 + draws, words), dtype=bool)
    marked[0, order[:count]] = True
    for mark in marked[1:]:
        mark[generator.permutation(order[count:])[:count]] = True
    masks = np.concatenate([np.ones((1, words), dtype=bool), ~marked, marked])
    found = np.asarray(probabilities(masks), dtype=np.float64)
    drops = found[0] - found[1:]
    without, alone = (_compare(count, float(found[0]), part) for part in np.split(drops, 2))
    return Faithfulness(without, alone)


def count_erased(words: int) -> int:
    """Return how many words of a text are erased."""
    return max(1, round(SHARE * words))


def rank(scores: Sequence[float] | NDArray[np.floating]) -> NDArray[np.int64]:
    """Return the places of the scores, the highest first."""
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def average_erasure(
    found: Sequence[Faithfulness], *, generator: np.random.Generator, resamples: int = 2000
) -> MeanErasure:
    """Average the drops over texts, with an interval by bootstrap."""
    tops = np.asarray([one.comprehensiveness.top for one in found])
    chances = np.asarray([one.comprehensiveness.chance for one in found])
    gains = tops - chances
    drawn = generator.integers(len(gains), size=(resamples, len(gains)))
    low, high = find_interval(gains[drawn].mean(axis=1))
    top, chance, gain = (float(each.mean()) for each in (tops, chances, gains))
    return MeanErasure(len(gains), top, chance, gain, low, high)


def _compare(count: int, whole: float, drops: NDArray[np.float64]) -> Erasure:
    """Compare the first drop with those of the random draws."""
    return Erasure(
        count, whole, float(drops[0]), float(drops[1:].mean()), *find_interval(drops[1:])
    )


def find_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the interval that holds 95% of the values."""
    rest = (1 - CENTRAL) / 2
    low, high = np.quantile(values, [rest, 1 - rest])
    return float(low), float(high)


def _as_json(found: Erasure) -> dict[str, float]:
    return {"top": found.top, "random": found.chance, "low": found.low, "high": found.high}
