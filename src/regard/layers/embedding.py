"""Embedding: ids become states, and states become logits through the same table.

state(t) = E[id(t)] · √width, plus the position            (Vaswani et al. 2017, §3.4)
         + S[segment(t)], then a norm                      (BERT: Devlin et al. 2019, figure 2)
         + Σₙ Nₙ[hash(id(t-n+1) … id(t))]                  hashed n-grams, as in fastText
logits   = state · Eᵀ                                      (Press and Wolf 2017)
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.memory import Memory
from regard.layers.position import Added, Concatenated

HASH_MASK = (1 << 24) - 1
"""Bits of an n-gram's hash that decide whether it has an embedding."""


class Extras(NamedTuple):
    """What is added to the token embeddings."""

    ngrams: "Ngrams | None" = None
    """Embeddings of n-grams."""
    segments: int = 0
    """Number of segment embeddings."""
    norm: nn.Module | None = None
    """Norm of the sum."""


_NOTHING = Extras()


class Embedding(nn.Module):
    """One learned vector per token.

    Args:
        tokens: Number of different ids.
        width: Size of a token's vector.
        scaled: Whether vectors are multiplied by √width.
        place: Position encoding on the states; None for none.
        extras: What else is added.
        dropout: Share of the output dropped while training.

    """

    def __init__(
        self,
        tokens: int,
        width: int,
        *,
        scaled: bool,
        place: Added | Concatenated | None = None,
        extras: Extras = _NOTHING,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(tokens, width).normal_(std=width**-0.5))
        self.scale = math.sqrt(width) if scaled else 1.0
        self.place, self.ngrams, self.norm = place, extras.ngrams, extras.norm
        self.segments: nn.Parameter | None = None
        if extras.segments:
            table = torch.empty(extras.segments, width).normal_(std=width**-0.5)
            self.segments = nn.Parameter(table)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        start: int = 0,
        at: Int[Tensor, "batch position"] | None = None,
        segments: Int[Tensor, "batch position"] | None = None,
        memory: Memory | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Return the states of ``ids``, the first of which is at position ``start``.

        ``at`` gives every position instead, if tokens between were left out. ``memory`` caches the
        last ids for the n-grams of later calls.
        """
        states = nn.functional.embedding(ids, self.table)
        if self.ngrams is not None:
            states = states + self.ngrams(ids, memory=memory)
        if self.scale != 1.0:
            states = states * self.scale
        if self.segments is not None:
            kinds = torch.zeros_like(ids) if segments is None else segments
            states = states + nn.functional.embedding(kinds, self.segments)
        if self.place is not None:
            states = self.place(states, start=start, at=at)
        if self.norm is not None:
            states = self.norm(states)
        return self.dropout(states)

    def logits(self, states: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes token"]:
        """Return the dot products of states and token embeddings: a tied output layer."""
        return nn.functional.linear(states, self.table)


class Ngrams(nn.Module):
    """Hashed embeddings of the n-grams of 2 to ``longest`` tokens that end at each position.

    N-grams with the same hash share an embedding. No n-gram extends across ``boundary``: earlier
    tokens count as 0.

    Args:
        longest: Length of the longest n-gram.
        rows: Number of embeddings for the n-grams of one length.
        width: Size of a vector.
        boundary: The id that ends a document.
        dropout: Share of the n-grams dropped while training, each as a whole: otherwise rare ones
            overfit, and the tokens alone learn too little.
        lazy: Whether gradients are sparse.

    """

    def __init__(
        self,
        longest: int,
        *,
        rows: int,
        width: int,
        boundary: int,
        dropout: float = 0.0,
        lazy: bool = False,
    ) -> None:
        super().__init__()
        self.lazy = lazy
        self.dropout = Dropout(dropout)
        self.longest, self.rows, self.boundary = longest, rows, boundary
        self.tables = nn.ParameterList(torch.zeros(rows, width) for _ in range(longest - 1))
        self.known: Tensor | None
        self.register_buffer("known", None)

    def restrict(self, known: UInt8[Tensor, "length byte"]) -> None:
        """Restrict embeddings to these n-grams: a row of bits for each length, one bit per hash."""
        self.register_buffer("known", known)

    def forward(
        self, ids: Int[Tensor, "batch position"], *, memory: Memory | None = None
    ) -> Float[Tensor, "batch position width"]:
        reach = self.longest - 1
        before = ids.new_zeros(len(ids), reach)
        if memory is not None and "ids" in memory:
            before = memory["ids"]
        every = torch.cat([before, ids], dim=1)
        if memory is not None:
            memory["ids"] = every[:, -reach:]
        found: list[Tensor] = []
        for hashed, table in zip(self.hashes(every, ids.shape[1]), self.tables, strict=True):
            vectors = nn.functional.embedding(hashed % self.rows, table, sparse=self.lazy)
            if self.known is not None:
                vectors = vectors * self.is_known(hashed, len(found))[..., None]
            if self.training and self.dropout.share:
                vectors = vectors * self.dropout(vectors.new_ones(*ids.shape, 1))
            found.append(vectors)
        return sum(found[1:], start=found[0])

    def is_known(self, hashed: Int[Tensor, "batch position"], length: int) -> Tensor:
        """Return 1 for each n-gram with an embedding, else 0."""
        if self.known is None:
            return torch.ones_like(hashed)
        place = hashed & HASH_MASK
        return self.known[length, place >> 3] >> (place & 7) & 1

    def hashes(self, every: Int[Tensor, "batch longer"], positions: int) -> list[Tensor]:
        """Hash the n-grams of each length that end at the last positions, shortest first."""
        reach = self.longest - 1
        hashed = every[:, reach:]
        hashes, ended = [], hashed == self.boundary
        for back in range(1, self.longest):
            earlier = every[:, reach - back : reach - back + positions]
            # Two odd constants of xxHash: any that scatter the bits would do.
            hashed = (hashed * 0x9E3779B1 + earlier.masked_fill(ended, 0) + 1) * 0x85EBCA77
            hashes.append(hashed)
            ended = ended | (earlier == self.boundary)
        return [hashed ^ (hashed >> 29) for hashed in hashes]
