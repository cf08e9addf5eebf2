"""Does a translator look where the meaning is? Its looks, compared with a gold alignment.

    agreement = share of content words whose strongest look falls on a word they are aligned with

A look of a word is the mean over its pieces, onto a word the sum over its pieces; punctuation and
the end of the text are left aside. Which head to trust is chosen on other sentences than those it
is then measured on.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.explain.trace import Trace, trace_translation
from regard.run import Run


class Gold(NamedTuple):
    """A pair whose alignment is known; words are those between spaces, counted from 0."""

    source: str
    target: str
    alignment: Sequence[tuple[int, int]]
    content: Sequence[int]
    """Target words that carry content."""


class Look(NamedTuple):
    """One way to read the maps: a head of a layer, or a layer's mean."""

    layer: int
    head: int | None

    @property
    def name(self) -> str:
        """What a person calls it."""
        which = "mean over heads" if self.head is None else f"head {self.head + 1}"
        return f"layer {self.layer + 1}, {which}"

    def of(self, trace: Trace) -> NDArray[np.float32]:
        """Return the map that this look shows."""
        layer = trace.weights[self.layer]
        return layer.mean(axis=0) if self.head is None else layer[self.head]


class Agreement(NamedTuple):
    """How often the strongest look is right."""

    look: Look
    share: float
    words: int


def agreement(run: Run, choose_on: Iterable[Gold], measure_on: Iterable[Gold]) -> Agreement:
    """Choose the look that agrees best on some sentences, and measure it on others."""
    choosing = [(gold, _trace(run, gold)) for gold in choose_on]
    layers, heads = choosing[0][1].weights.shape[:2]
    looks = [Look(a, b) for a in range(layers) for b in (None, *range(heads))]
    best = max(looks, key=lambda look: _share(look, choosing).share)
    return _share(best, [(gold, _trace(run, gold)) for gold in measure_on])


def strongest(weights: NDArray[np.float32], trace: Trace) -> list[int]:
    """For every target word, the source word it looked at most."""
    sources, targets = words_between_spaces(trace.source), words_between_spaces(trace.target)
    onto = np.stack([weights[:, pieces].sum(axis=1) for pieces in sources], axis=1)
    return [int(onto[pieces].mean(axis=0).argmax()) for pieces in targets]


def words_between_spaces(tokens: Sequence[str]) -> list[list[int]]:
    """Group pieces into the words between spaces, without punctuation and the end of the text."""
    words: list[list[int]] = []
    for place, token in enumerate(tokens[:-1]):
        if token.startswith("▁") or not words:
            words.append([])
        words[-1].append(place)
    spoken = [[p for p in word if any(map(str.isalnum, tokens[p]))] for word in words]
    return [some or word for some, word in zip(spoken, words, strict=True)]


def _trace(run: Run, gold: Gold) -> Trace:
    return trace_translation(run, gold.source, gold.target)


def _share(look: Look, traced: Sequence[tuple[Gold, Trace]]) -> Agreement:
    right = words = 0
    for gold, trace in traced:
        seen, links = strongest(look.of(trace), trace), set(gold.alignment)
        right += sum((seen[word], word) in links for word in gold.content)
        words += len(gold.content)
    return Agreement(look, right / max(1, words), words)
