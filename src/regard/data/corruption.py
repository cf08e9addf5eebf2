"""Corruption: which tokens are masked or replaced in masked pretraining.

    chosen     a share of each row's maskable tokens, uniformly drawn, at least one  (BERT, §3.1)
    corrupted  of the chosen: [MASK] 80%, a random token 10%, the token itself 10%
    kept       the tokens not chosen, in order, with their positions                 (autoencoder)

Every function is pure: equal generators choose equal tokens. Special tokens are never chosen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.text.special import MASK, SPECIAL

Ids = NDArray[np.int64]
Selection = NDArray[np.bool_]


def find_maskable(ids: Ids) -> Selection:
    """Return which tokens may be chosen: all but special ones."""
    return ids >= len(SPECIAL)


def choose_tokens(free: Selection, *, share: float, rng: np.random.Generator) -> Selection:
    """Choose ``share`` of the ``free`` tokens of every row, at least one where there is one.

    Of n free tokens ⌊share·n⌋ or one more are chosen, so that the expected share is exact.
    """
    wanted = _draw_counts(free, share, rng)
    scores = np.where(free, rng.random(free.shape), 2.0)
    ranks = scores.argsort(axis=1).argsort(axis=1)
    return free & (ranks < wanted[:, None])


def choose_words(
    ids: Ids, begins: Selection, *, share: float, rng: np.random.Generator
) -> Selection:
    """Choose whole words: a token that ``begins`` a word, and all that continue it.

    Words are added in random order until about ``share`` of the tokens are chosen; the last word
    only if that brings the count closer.
    """
    free = find_maskable(ids)
    wanted = _draw_counts(free, share, rng)
    starts = begins[ids] | ~free
    starts[:, 1:] |= ~free[:, :-1]
    words = np.maximum(starts.cumsum(axis=1) - 1, 0)
    by_word = np.take_along_axis(rng.random(ids.shape), words, axis=1)
    order = np.where(free, by_word, 2.0).argsort(axis=1, kind="stable")
    sizes = np.take_along_axis(_count_tokens(words), words, axis=1)
    ranks = order.argsort(axis=1, kind="stable")
    # The tokens of one word are consecutive in this order, the first one first.
    before = np.full(ids.shape, ids.shape[1])
    np.minimum.at(before, (np.arange(len(ids))[:, None], words), ranks)
    before = np.take_along_axis(before, words, axis=1)
    fits = (2 * before + sizes <= 2 * wanted[:, None]) | (before == 0)
    return free & fits


def corrupt(
    ids: Ids,
    chosen: Selection,
    *,
    masked_as: tuple[float, float, float],
    tokens: int,
    rng: np.random.Generator,
) -> Ids:
    """Replace each chosen token by [MASK], by a random one of ``tokens``, or not at all."""
    drawn = rng.random(ids.shape)
    others = rng.integers(len(SPECIAL), tokens, size=ids.shape)
    masked, replaced, _ = masked_as
    changed = np.where(drawn < masked, MASK, np.where(drawn < masked + replaced, others, ids))
    return np.where(chosen, changed, ids)


class KeptTokens(NamedTuple):
    """The positions of each row that an encoder reads."""

    places: Ids
    """In order; each row is padded with position 0."""
    lengths: Ids
    """How many of them are not padding."""


def keep_unchosen(chosen: Selection, lengths: Ids) -> KeptTokens:
    """Leave out the chosen tokens and the padding."""
    seen = ~chosen & (np.arange(chosen.shape[1]) < lengths[:, None])
    counts = seen.sum(axis=1)
    places = (~seen).argsort(axis=1, kind="stable")[:, : int(counts.max(initial=0))]
    return KeptTokens(np.where(np.arange(places.shape[1]) < counts[:, None], places, 0), counts)


def _draw_counts(free: Selection, share: float, rng: np.random.Generator) -> Ids:
    counts = free.sum(axis=1)
    return np.maximum(1, np.floor(share * counts + rng.random(len(free)))).astype(np.int64)


def _count_tokens(words: Ids) -> Ids:
    """Count the tokens of each word of each row."""
    rows, positions = words.shape
    flat = (words + positions * np.arange(rows)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * positions).reshape(rows, positions)
