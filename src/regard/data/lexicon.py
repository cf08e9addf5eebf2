"""A lexicon learned from parallel text: which source token translates to which target token.

    p(t|s) ∝ Σ over pairs, positions of t:  p(t|s) / Σ_s' p(t|s')          (IBM model 1, EM)
    strength(s, t) = √(p(t|s) · p(s|t))                                  both directions agree

A few rounds of EM over the co-occurrences in some tens of thousands of pairs take seconds and find
the translation of most words (Brown et al. 1993). A translator whose embeddings are initialized
with such a lexicon does not spend its first epochs on learning it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.store import Store

ROUNDS = 4
MOST_PAIRS, MOST_COOCCURRENCES = 50_000, 20_000_000  # bound the memory for any corpus
WEAKEST = 0.05  # weaker links are noise


class Lexicon(NamedTuple):
    """Pairs of tokens that translate each other, and the strength of each link."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    strength: NDArray[np.float64]


class _Cooccurrences(NamedTuple):
    """Every (source token, target token) that occur in one sentence pair."""

    pair: NDArray[np.int64]
    """Index of the distinct (source, target)."""
    at_source: NDArray[np.int64]
    """Source position in the corpus."""
    at_target: NDArray[np.int64]
    source: NDArray[np.int64]
    """Of each distinct pair."""
    target: NDArray[np.int64]


def learn_lexicon(store: Store, *, tokens: int) -> Lexicon:
    """Learn which tokens translate each other from a store of parallel examples."""
    found = _count_cooccurrences(store, tokens)
    forward = _run_em(found.pair, found.at_target, found.source)
    backward = _run_em(found.pair, found.at_source, found.target)
    strength = np.sqrt(forward * backward)
    sure = strength > WEAKEST
    return Lexicon(found.source[sure], found.target[sure], strength[sure])


def _count_cooccurrences(store: Store, tokens: int) -> _Cooccurrences:
    both, at_source, at_target = [], [], []
    sources = targets = count = 0
    step = max(1, len(store) // MOST_PAIRS)  # an even sample of a corpus that is too large
    for number in range(0, len(store), step):
        source, target = (ids.astype(np.int64) for ids in store[number][:2])
        both.append((source[:, None] * tokens + target[None]).ravel())
        at_source.append(np.repeat(np.arange(len(source)) + sources, len(target)))
        at_target.append(np.tile(np.arange(len(target)) + targets, len(source)))
        sources, targets, count = (
            sources + len(source),
            targets + len(target),
            count + both[-1].size,
        )
        if count > MOST_COOCCURRENCES:
            break
    distinct, pair = np.unique(np.concatenate(both), return_inverse=True)
    return _Cooccurrences(
        pair,
        np.concatenate(at_source),
        np.concatenate(at_target),
        distinct // tokens,
        distinct % tokens,
    )


def _run_em(
    pair: NDArray[np.int64], explained: NDArray[np.int64], given: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Compute p(explained | given) of every distinct pair by EM."""
    chance = np.ones(len(given))
    for _ in range(ROUNDS):
        share = chance[pair]
        share /= np.bincount(explained, share)[explained]
        expected = np.bincount(pair, share, minlength=len(given))
        chance = expected / np.bincount(given, expected)[given]
    return chance
