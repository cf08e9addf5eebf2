"""Position on the scores: a number per head that depends on how far a key is from a query.

    table      b[h, key - query], one number per distance: heads · (2·positions - 1) in all
                                                               (Shaw et al. 2018; Huang et al. 2020)
    buckets    near distances have their own number, far ones share (Raffel et al. 2020, §2.1)
    ALiBi      -slope(h) · |key - query|, nothing to learn         (Press et al. 2022, §3)

All answer ``(queries, keys)`` with a bias for :func:`regard.layers.attention.attend`; the last
query stands at the last key.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class RelativeTable(nn.Module):
    """One learned number per head and distance (Shaw et al. 2018, on the scores).

    Args:
        heads: Number of heads.
        positions: Longest text answered for.

    """

    def __init__(self, heads: int, positions: int) -> None:
        super().__init__()
        self.positions = positions
        self.table = nn.Parameter(torch.zeros(heads, 2 * positions - 1))

    def forward(self, queries: int, keys: int) -> Float[Tensor, "1 head query key"]:
        if keys > self.positions:
            raise ValueError(
                f"A relative table knows only the distances it was made for. Got {keys} "
                f"positions, table of {self.positions}; shorten the text or train with more "
                f"positions."
            )
        ahead = _ahead(queries, keys, self.table.device)
        return self.table[:, ahead + self.positions - 1][None]


class RelativeBuckets(nn.Module):
    """One learned number per head and class of distances.

    Args:
        heads: Number of heads.
        buckets: Number of classes; half for either side unless causal.
        farthest: Distance from which on all share the last class.
        causal: Whether keys ahead are never looked at, so that all classes serve those behind.

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

    The paper's is causal. Looking both ways, one slope would make a text and its mirror image look
    alike, so keys ahead then count twice in every other head, and keys behind in the rest.

    Args:
        heads: Number of heads.
        causal: Whether keys ahead are never looked at; their bias is then 0.

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
    """Return a geometric series; no power of two borrows from the next finer series."""
    whole = 2 ** math.floor(math.log2(heads))
    series = [2.0 ** (-8 * (head + 1) / whole) for head in range(whole)]
    finer = [2.0 ** (-4 * (head + 1) / whole) for head in range(0, 2 * whole, 2)]
    return series + finer[: heads - whole]


def _ahead(queries: int, keys: int, device: torch.device) -> Int[Tensor, "query key"]:
    """How far ahead of each query each key stands."""
    places = torch.arange(keys, device=device)
    return places - places[keys - queries :, None]
