"""Gaps: what is taken out of a document that a model is to write again.

    spans       runs of Poisson(mean) tokens, a share of all, become one [MASK] each, and the whole
                is written again: the model must also tell how much is missing   (Lewis et al. 2020)
    sentences   whole sentences become one [MASK] each, and only they are written, which is what a
                summary looks like                                              (Zhang et al. 2020)

Every function is pure: the same generator gives the same gaps.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from regard.text.special import MASK


class Gapped(NamedTuple):
    """A document with gaps, and what is to be written."""

    shown: list[int]
    target: list[int]


def take_spans(
    ids: Sequence[int], *, share: float, mean: float, rng: np.random.Generator
) -> Gapped:
    """Take out ``share`` of the tokens in runs of ``mean`` on average; one of none adds a mask."""
    wanted = int(np.floor(share * len(ids) + rng.random()))
    lengths: list[int] = []
    while sum(lengths) < wanted:
        lengths.append(min(int(rng.poisson(mean)), wanted - sum(lengths)))
    kept = len(ids) - wanted
    shown, at, before = [], 0, 0
    for cut, length in zip(
        np.sort(rng.integers(kept + 1, size=len(lengths))), lengths, strict=True
    ):
        shown += [*ids[at : at + int(cut) - before], MASK]
        at += int(cut) - before + length
        before = int(cut)
    return Gapped([*shown, *ids[at:]], list(ids))


def take_sentences(
    ids: Sequence[int], lengths: Sequence[int], *, share: float, rng: np.random.Generator
) -> Gapped:
    """Take out ``share`` of the sentences, of which there must be two, at least one and not all."""
    count = int(np.clip(np.floor(share * len(lengths) + rng.random()), 1, len(lengths) - 1))
    taken = set(rng.choice(len(lengths), size=count, replace=False).tolist())
    shown: list[int] = []
    target: list[int] = []
    for number, end in enumerate(accumulate(lengths)):
        sentence = ids[end - lengths[number] : end]
        if number in taken:
            shown.append(MASK)
            target += sentence
        else:
            shown += sentence
    return Gapped(shown, target)
