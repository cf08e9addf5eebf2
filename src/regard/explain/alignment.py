"""Does a translator attend to the words that it translates? Attention against a gold alignment.

    agreement = share of content words whose strongest weight falls on a word they are aligned with

Attention from a word is the mean over its pieces, attention to a word the sum over its pieces;
punctuation and the end of the text are left out. The head is chosen on other sentences than those
on which its agreement is measured.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.explain.trace import Trace, trace_translation
from regard.run import Run


class GoldAlignment(NamedTuple):
    """A pair whose alignment is known; words are those between spaces, counted from 0."""

    source: str
    target: str
    alignment: Sequence[tuple[int, int]]
    content: Sequence[int]
    """Target words that carry content."""


class MapIndex(NamedTuple):
    """Which attention map of a trace: of one head, or the mean over a layer's heads."""

    layer: int
    head: int | None

    @property
    def name(self) -> str:
        """What a person calls it."""
        which = "mean over heads" if self.head is None else f"head {self.head + 1}"
        return f"layer {self.layer + 1}, {which}"

    def select(self, trace: Trace) -> NDArray[np.float32]:
        """Return the map."""
        layer = trace.weights[self.layer]
        return layer.mean(axis=0) if self.head is None else layer[self.head]


class Agreement(NamedTuple):
    """How often the strongest weight is on an aligned word."""

    map: MapIndex
    share: float
    words: int


def measure_agreement(
    run: Run, choose_on: Iterable[GoldAlignment], measure_on: Iterable[GoldAlignment]
) -> Agreement:
    """Choose the map that agrees best on some sentences, and measure it on others."""
    choosing = [(gold, _trace(run, gold)) for gold in choose_on]
    layers, heads = choosing[0][1].weights.shape[:2]
    maps = [MapIndex(a, b) for a in range(layers) for b in (None, *range(heads))]
    best = max(maps, key=lambda one: _score(one, choosing).share)
    return _score(best, [(gold, _trace(run, gold)) for gold in measure_on])


def find_strongest(weights: NDArray[np.float32], trace: Trace) -> list[int]:
    """For every target word, find the source word with the highest weight."""
    sources, targets = group_by_spaces(trace.source), group_by_spaces(trace.target)
    onto = np.stack([weights[:, pieces].sum(axis=1) for pieces in sources], axis=1)
    return [int(onto[pieces].mean(axis=0).argmax()) for pieces in targets]


def group_by_spaces(tokens: Sequence[str]) -> list[list[int]]:
    """Group pieces into the words between spaces, without punctuation and the end of the text."""
    words: list[list[int]] = []
    for place, token in enumerate(tokens[:-1]):
        if token.startswith("▁") or not words:
            words.append([])
        words[-1].append(place)
    spelled = [[p for p in word if any(map(str.isalnum, tokens[p]))] for word in words]
    return [some or word for some, word in zip(spelled, words, strict=True)]


def _trace(run: Run, gold: GoldAlignment) -> Trace:
    return trace_translation(run, gold.source, gold.target)


def _score(chosen: MapIndex, traced: Sequence[tuple[GoldAlignment, Trace]]) -> Agreement:
    right = words = 0
    for gold, trace in traced:
        found, links = find_strongest(chosen.select(trace), trace), set(gold.alignment)
        right += sum((found[word], word) in links for word in gold.content)
        words += len(gold.content)
    return Agreement(chosen, right / max(1, words), words)
