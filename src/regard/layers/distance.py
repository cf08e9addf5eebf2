"""Relative position bias: a number per head and distance, added to the attention scores.

    table      b[h, key - query], one number per distance: heads · (2·positions - 1) in all
                                                               (Shaw et al. 2018; Huang et al. 2020)
    buckets    near distances have their own bias, far ones share (Raffel et al. 2020, §2.1)
    ALiBi      -slope(h) · |key - query|, nothing to learn         (Press et al. 2022, §3)

All map ``(queries, keys)`` to a bias for :func:`regard.layers.attention.attend`; the last query is
at the position of the last key.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class RelativeTable(nn.Module):
    """One learned number per head and distance (Shaw et al. 2018, on the scores).

    Args:
        heads: Number of heads.
        positions: Maximum number of positions of a text.

    """

    def __init__(self, heads: int, positions: int) -> None:
        super().__init__()
        self.positions = positions
        self.table = nn.Parameter(torch.zeros(heads, 2 * positions - 1))

    def forward(self, queries: int, keys: int) -> Float[Tensor, "1 head query key"]:
        if keys > self.positions:
            raise ValueError(
                f"A text may have at most as many positions as the table of relative positions. "
                f"Got {keys}, table of {self.positions}; shorten the text or train with more "
                f"positions."
            )
        ahead = _ahead(queries, keys, self.table.device)
        return self.table[:, ahead + self.positions - 1][None]


class RelativeBuckets(nn.Module):
    """One learned number per head and bucket of distances.

    Args:
        heads: Number of heads.
        buckets: Number of buckets; half for either side unless causal.
        farthest: Distance at which the last bucket begins.
        causal: Whether attention is causal, so that all buckets serve earlier keys.

    """

    def __init__(self, heads: int, buckets: int, farthest: int, causal: bool = False) -> None:
        super().__init__()
        self.side = buckets if causal else buckets // 2
        if self.side < 2 or farthest <= self.side // 2:
            raise ValueError(
                f"Each side needs two buckets, and the farthest distance must lie beyond those "
                f"that have a bucket of their own. Got buckets={buckets}, farthest={farthest}; "
                f"32 and 128 are usual."
            )
        self.farthest, self.causal = farthest, causal
        self.table = nn.Parameter(torch.zeros(heads, buckets))

    def forward(self, queries: int, keys: int) -> Float[Tensor, "1 head query key"]:
        ahead = _ahead(queries, keys, self.table.device)
        bucket = self._bucket((-ahead).clamp(min=0) if self.causal else ahead.abs())
        if not self.causal:
            bucket = bucket + self.side * (ahead > 0)
        return self.table[:, bucket][None]

    def _bucket(self, distance: Int[Tensor, "query key"]) -> Int[Tensor, "query key"]:
        """Own bucket for the near half; logarithmic ones from there to ``farthest``."""
        near = self.side // 2
        ratio = torch.log(distance.clamp(min=1) / near) / math.log(self.farthest / near)
        far = near + (ratio * (self.side - near)).long()
        return torch.where(distance < near, distance, far.clamp(max=self.side - 1))


class Alibi(nn.Module):
    """-slope(h) · |key - query|, with slopes 2^(-8/heads), 2^(-16/heads), … and nothing to learn.

    The paper's is causal. With bidirectional attention one slope could not distinguish a text from
    its reverse, so the slope is doubled for later keys in every other head, and for earlier keys
    in the rest.

    Args:
        heads: Number of heads.
        causal: Whether attention is causal; the bias of later keys is then 0.

    """

    behind: Tensor
    ahead: Tensor

    def __init__(self, heads: int, causal: bool = False) -> None:
        super().__init__()
        slopes, odd = torch.tensor(_slopes(heads)), torch.arange(heads) % 2
        behind, ahead = (slopes, 0 * slopes) if causal else (slopes * (1 + odd), slopes * (2 - odd))
        self.register_buffer("behind", behind[:, None, None], persistent=False)
        self.register_buffer("ahead", ahead[:, None, None], persistent=False)

    def forward(self, queries: int, keys: int) -> Float[Tensor, "1 head query key"]:
        ahead = _ahead(queries, keys, self.behind.device)
        return (self.behind * ahead.clamp(max=0) - self.ahead * ahead.clamp(min=0))[None]


def _slopes(heads: int) -> list[float]:
    """Return a geometric series; other counts than powers of two add terms of the next series."""
    whole = 2 ** math.floor(math.log2(heads))
    series = [2.0 ** (-8 * (head + 1) / whole) for head in range(whole)]
    finer = [2.0 ** (-4 * (head + 1) / whole) for head in range(0, 2 * whole, 2)]
    return series + finer[: heads - whole]


def _ahead(queries: int, keys: int, device: torch.device) -> Int[Tensor, "query key"]:
    """Return key position - query position for every pair."""
    positions = torch.arange(keys, device=device)
    return positions - positions[keys - queries :, None]
