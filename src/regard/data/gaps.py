"""Gaps: parts of a document that are replaced by [MASK] and have to be generated.

    spans       spans of Poisson(mean) tokens become one [MASK] each; the target is the whole
                document (text infilling)                                       (Lewis et al. 2020)
    sentences   whole sentences become one [MASK] each; the target is these sentences
                (gap-sentence generation)                                       (Zhang et al. 2020)

Every function is pure: equal generators give equal gaps.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from regard.text.special import MASK


class MaskedText(NamedTuple):
    """A document with gaps, and the target to generate."""

    shown: list[int]
    target: list[int]


def mask_spans(
    ids: Sequence[int], *, share: float, mean: float, rng: np.random.Generator
) -> MaskedText:
    """Mask ``share`` of the tokens in spans of ``mean`` on average; an empty span adds a mask."""
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
    return MaskedText([*shown, *ids[at:]], list(ids))


def mask_sentences(
    ids: Sequence[int], lengths: Sequence[int], *, share: float, rng: np.random.Generator
) -> MaskedText:
    """Mask ``share`` of two or more sentences, at least one and not all."""
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
    return MaskedText(shown, target)
