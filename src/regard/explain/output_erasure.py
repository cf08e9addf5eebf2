"""Erasure for answers of several words: each written word is tested by itself.

    drop(word) = log p(word | text) - log p(word | text without the words attributed to it)

It is compared with the drops for as many other words drawn at random. The random draws are shared:
for each written word those count that erase none of the words attributed to it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.explain.erasure import (
    DRAWS,
    Masks,
    count_erased,
    count_words,
    find_interval,
    is_dependent,
    judge,
    name_words,
    quote,
    rank,
    write_interval,
)

MOST_ERASED = 5  # a written word comes from few words, however long the text
SHARED_DRAWS = 100  # of which enough leave out the words of each written word

LogProbabilities = Callable[[Masks], NDArray[np.floating]]
"""From masks of kept words to log-probabilities, by variant and written word."""


class OutputErasure(NamedTuple):
    """How far erasing the words attributed to one written word lowers its log-probability."""

    output: str
    erased: tuple[str, ...]
    """The words attributed to it, the highest first."""
    whole: float
    """Log-probability given the whole text."""
    drop: float
    """The drop of it without these words."""
    chance: float
    """The mean drop without as many other words."""
    low: float
    high: float
    """Between these lie 95% of the random drops."""

    @property
    def dependent(self) -> bool:
        """Whether the written word depends on the words attributed to it."""
        before, after, other = np.exp(
            [self.whole, self.whole - self.drop, self.whole - self.high]
        ).tolist()
        return is_dependent(before, before - after, before - other)

    def shares(self) -> tuple[float, float, float, float]:
        """Return the probability before, without the words, and the ends of the random draws."""
        drops = np.asarray([0.0, self.drop, self.high, self.low])
        before, without, low, high = np.exp(self.whole - drops).tolist()
        return before, without, low, high


class OutputFaithfulness(NamedTuple):
    """The test of every output; empty where there are too few words to erase, or no output."""

    outputs: tuple[OutputErasure, ...]
    noun: str = "written word"
    """What one output is called."""

    @property
    def dependent(self) -> tuple[OutputErasure, ...]:
        """The outputs that depend on the words attributed to them, the largest drop first."""
        found = [one for one in self.outputs if one.dependent]
        return tuple(sorted(found, key=lambda one: one.shares()[1] - one.shares()[0]))

    @property
    def faithful(self) -> bool:
        """Whether at least half of the outputs depend on the words attributed to them."""
        return bool(self.outputs) and 2 * len(self.dependent) >= len(self.outputs)

    def as_json(self, answer: str) -> dict[str, Any]:
        """Return the figures and the sentence under the names that scripts rely on."""
        return {
            "outputs": [{**one._asdict(), "dependent": one.dependent} for one in self.outputs],
            "words": max((len(one.erased) for one in self.outputs), default=0),
            "faithful": self.faithful,
            "sentence": self.describe(answer),
        }

    def describe(self, answer: str) -> str:
        """Say in plain words on which words the outputs depend."""
        if not self.outputs:
            return "Faithfulness cannot be measured: too few words to erase, or none written."
        return _describe_one(self.outputs[0]) if len(self.outputs) == 1 else self._describe_all()

    def _describe_all(self) -> str:
        found, total = self.dependent, len(self.outputs)
        plural = f"{self.noun}s"
        some = {
            0: f"None of the {total} {plural} depends measurably on the words attributed to it.",
            1: f"1 of the {total} {plural} depends on the words attributed to it",
        }.get(
            len(found),
            f"{len(found)} of the {total} {plural} depend on the words attributed to them",
        )
        if found:
            most = found[0]
            before, without, *_ = most.shares()
            lead = "most of all " if len(found) > 1 else ""
            some += (
                f", {lead}{quote(most.output)} on {name_words(most.erased)} "
                f"({before:.0%} to {without:.0%})."
            )
        drops = [
            np.exp([one.whole, one.whole - one.drop, one.whole - one.chance])
            for one in self.outputs
        ]
        before, without, chance = np.mean(drops, axis=0).tolist()
        words = len(self.outputs[0].erased)
        erased = count_words(words, "the word", "the {} words")
        others = count_words(words, "another word", "{} other words")
        return (
            f"{some} On average the probability of a {self.noun} goes from {before:.0%} to "
            f"{without:.0%} without {erased} attributed to it, to {chance:.0%} without {others}."
        )


def erase_for_each(
    log_probabilities: LogProbabilities,
    scores: NDArray[np.floating],
    outputs: Sequence[str],
    words: Sequence[str],
    *,
    generator: np.random.Generator,
) -> tuple[OutputErasure, ...]:
    """Erase, for every output, the words with its highest scores, and others at random.

    Args:
        log_probabilities: What the model says of texts with words left out.
        scores: By output and word.
        outputs: What each output is called.
        words: What each word is called.
        generator: Of the random draws.

    """
    count = min(MOST_ERASED, count_erased(len(words)))
    if len(words) < 2 * count:
        return ()
    tops = [rank(row)[:count] for row in scores]
    drawn = np.stack([generator.permutation(len(words))[:count] for _ in range(SHARED_DRAWS)])
    masks = np.ones((1 + len(tops) + len(drawn), len(words)), dtype=bool)
    for mask, places in zip(masks[1:], [*tops, *drawn], strict=True):
        mask[places] = False
    found = np.asarray(log_probabilities(masks), dtype=np.float64)
    drops = found[0] - found[1:]
    tested = []
    for number, (output, top) in enumerate(zip(outputs, tops, strict=True)):
        others = [n for n, places in enumerate(drawn) if not set(places) & set(top)][:DRAWS]
        by_chance = drops[len(tops) :][others, number]
        tested.append(
            OutputErasure(
                output,
                tuple(words[place] for place in top),
                float(found[0, number]),
                float(drops[number, number]),
                float(by_chance.mean()),
                *find_interval(by_chance),
            )
        )
    return tuple(tested)


def _describe_one(found: OutputErasure) -> str:
    before, without, low, high = found.shares()
    count, named = len(found.erased), name_words(found.erased)
    verdict = judge(before, before - without, before - low, named)
    these = count_words(count, "this word", "these {} words")
    others = count_words(count, "another word", "{} other words")
    ends = write_interval(f"{low:.0%}", f"{high:.0%}")
    return (
        f"{quote(found.output)} {verdict}. Without {these} its probability goes from {before:.0%} "
        f"to {without:.0%}, without {others} to {ends} (95% of random draws)."
    )
