"""Corruption: what is hidden from a model that is to learn from plain text.

    chosen     share of each row's maskable tokens, evenly drawn, at least one    (BERT, §3.1)
    corrupted  of the chosen: [MASK] 80%, a random token 10%, the token itself 10%
    kept       what was not chosen, in its order, with the places it stood at     (autoencoder)

Every function is pure: the same generator gives the same places. Special tokens are never chosen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.text.special import MASK, SPECIAL

Ids = NDArray[np.int64]
Places = NDArray[np.bool_]


def maskable(ids: Ids) -> Places:
    """Tell which tokens may be chosen: all but special ones."""
    return ids >= len(SPECIAL)


def choose(free: Places, *, share: float, rng: np.random.Generator) -> Places:
    """Choose ``share`` of the ``free`` places of every row, and at least one where there is one.

    A row of n free places has ⌊share·n⌋ chosen or one more, in such a proportion that the mean is
    exactly ``share``.
    """
    wanted = _wanted(free, share, rng)
    scores = np.where(free, rng.random(free.shape), 2.0)
    ranks = scores.argsort(axis=1).argsort(axis=1)
    return free & (ranks < wanted[:, None])


def choose_words(ids: Ids, begins: Places, *, share: float, rng: np.random.Generator) -> Places:
    """Choose whole words: a word is a token that ``begins`` one and all that continue it.

    Words are taken in random order until about ``share`` of the tokens are, the last one only if
    more than half of it is still wanted.
    """
    free = maskable(ids)
    wanted = _wanted(free, share, rng)
    starts = begins[ids] | ~free
    starts[:, 1:] |= ~free[:, :-1]
    words = np.maximum(starts.cumsum(axis=1) - 1, 0)
    by_word = np.take_along_axis(rng.random(ids.shape), words, axis=1)
    order = np.where(free, by_word, 2.0).argsort(axis=1, kind="stable")
    sizes = np.take_along_axis(_counts(words), words, axis=1)
    ranks = order.argsort(axis=1, kind="stable")
    # The tokens of one word stand together in the order, the first of them before the others.
    before = np.full(ids.shape, ids.shape[1])
    np.minimum.at(before, (np.arange(len(ids))[:, None], words), ranks)
    before = np.take_along_axis(before, words, axis=1)
    fits = (2 * before + sizes <= 2 * wanted[:, None]) | (before == 0)
    return free & fits


def corrupt(
    ids: Ids,
    chosen: Places,
    *,
    masked_as: tuple[float, float, float],
    tokens: int,
    rng: np.random.Generator,
) -> Ids:
    """Put [MASK], a random one of ``tokens`` or nothing new at every chosen place."""
    drawn = rng.random(ids.shape)
    others = rng.integers(len(SPECIAL), tokens, size=ids.shape)
    masked, replaced, _ = masked_as
    changed = np.where(drawn < masked, MASK, np.where(drawn < masked + replaced, others, ids))
    return np.where(chosen, changed, ids)


class Kept(NamedTuple):
    """Which places of each row an encoder sees."""

    places: Ids
    """In their order, each row filled up with place 0."""
    lengths: Ids
    """How many of them are real."""


def keep(chosen: Places, lengths: Ids) -> Kept:
    """Leave out the chosen places and the padding."""
    seen = ~chosen & (np.arange(chosen.shape[1]) < lengths[:, None])
    counts = seen.sum(axis=1)
    places = (~seen).argsort(axis=1, kind="stable")[:, : int(counts.max(initial=0))]
    return Kept(np.where(np.arange(places.shape[1]) < counts[:, None], places, 0), counts)


def _wanted(free: Places, share: float, rng: np.random.Generator) -> Ids:
    counts = free.sum(axis=1)
    return np.maximum(1, np.floor(share * counts + rng.random(len(free)))).astype(np.int64)


def _counts(words: Ids) -> Ids:
    """How many tokens each word of each row has."""
    rows, positions = words.shape
    flat = (words + positions * np.arange(rows)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * positions).reshape(rows, positions)
