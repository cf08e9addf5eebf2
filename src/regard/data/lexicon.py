"""A lexicon from parallel text alone: which token of one side means which of the other.

    p(t|s) ∝ Σ over pairs, positions of t:  p(t|s) / Σ_s' p(t|s')          (IBM model 1, EM)
    strength(s, t) = √(p(t|s) · p(s|t))                                  both directions agree

A few rounds of EM over the co-occurrences of some tens of thousands of pairs take seconds, and know
already what most words mean (Brown et al. 1993). A translator that begins with such a lexicon in
its table of tokens need not spend its first epochs on finding it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.store import Store

ROUNDS = 4
MOST_PAIRS, MOST_MEETINGS = 50_000, 20_000_000  # bounds the memory, whatever the corpus
WEAKEST = 0.05  # weaker links are chance


class Lexicon(NamedTuple):
    """Pairs of tokens that mean each other, and how surely."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    strength: NDArray[np.float64]


class _Meetings(NamedTuple):
    """Every (source token, target token) that stand in one pair."""

    pair: NDArray[np.int64]
    """Which distinct (source, target) this is."""
    at_source: NDArray[np.int64]
    """Which source position of the corpus took part."""
    at_target: NDArray[np.int64]
    source: NDArray[np.int64]
    """Of each distinct pair."""
    target: NDArray[np.int64]


def learn_lexicon(store: Store, *, tokens: int) -> Lexicon:
    """Learn which tokens mean each other from a store of parallel examples."""
    meetings = _meet(store, tokens)
    forward = _em(meetings.pair, meetings.at_target, meetings.source)
    backward = _em(meetings.pair, meetings.at_source, meetings.target)
    strength = np.sqrt(forward * backward)
    sure = strength > WEAKEST
    return Lexicon(meetings.source[sure], meetings.target[sure], strength[sure])


def _meet(store: Store, tokens: int) -> _Meetings:
    both, at_source, at_target = [], [], []
    sources = targets = met = 0
    step = max(1, len(store) // MOST_PAIRS)  # an even sample of a corpus that is too large
    for number in range(0, len(store), step):
        source, target = (ids.astype(np.int64) for ids in store[number][:2])
        both.append((source[:, None] * tokens + target[None]).ravel())
        at_source.append(np.repeat(np.arange(len(source)) + sources, len(target)))
        at_target.append(np.tile(np.arange(len(target)) + targets, len(source)))
        sources, targets, met = sources + len(source), targets + len(target), met + both[-1].size
        if met > MOST_MEETINGS:
            break
    distinct, pair = np.unique(np.concatenate(both), return_inverse=True)
    return _Meetings(
        pair,
        np.concatenate(at_source),
        np.concatenate(at_target),
        distinct // tokens,
        distinct % tokens,
    )


def _em(
    pair: NDArray[np.int64], explained: NDArray[np.int64], given: NDArray[np.int64]
) -> NDArray[np.float64]:
    """p(explained | given) of every distinct pair, after some rounds of EM."""
    chance = np.ones(len(given))
    for _ in range(ROUNDS):
        share = chance[pair]
        share /= np.bincount(explained, share)[explained]
        expected = np.bincount(pair, share, minlength=len(given))
        chance = expected / np.bincount(given, expected)[given]
    return chance
