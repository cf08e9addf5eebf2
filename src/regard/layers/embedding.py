"""Embedding: ids become states, and states become logits through the same table.

state(t) = E[id(t)] · √width, then the position joins      (Vaswani et al. 2017, §3.4)
         + S[segment(t)], then a norm                      (BERT: Devlin et al. 2019, figure 2)
         + Σₙ Nₙ[hash(id(t-n+1) … id(t))]                  runs of tokens, as fastText hashes them
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

KNOWN = (1 << 24) - 1
"""The bits of a run's hash by which it is known."""


class Joins(NamedTuple):
    """What else joins a token's vector."""

    ngrams: "Ngrams | None" = None
    """Vectors of runs of tokens, added to the token's own."""
    segments: int = 0
    """How many kinds of span have a vector of their own."""
    norm: nn.Module | None = None
    """What brings the sum to one scale."""


_NOTHING = Joins()


class Embedding(nn.Module):
    """One learned vector per token.

    Args:
        tokens: Number of different ids.
        width: Size of a token's vector.
        scaled: Whether vectors are multiplied by √width when they enter.
        place: How a position joins the token; None for not at all.
        joins: What else joins the token's vector.
        dropout: Share of the entering states dropped while training.

    """

    def __init__(
        self,
        tokens: int,
        width: int,
        *,
        scaled: bool,
        place: Added | Concatenated | None = None,
        joins: Joins = _NOTHING,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(tokens, width).normal_(std=width**-0.5))
        self.scale = math.sqrt(width) if scaled else 1.0
        self.place, self.ngrams, self.norm = place, joins.ngrams, joins.norm
        self.segments: nn.Parameter | None = None
        if joins.segments:
            table = torch.empty(joins.segments, width).normal_(std=width**-0.5)
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
        """Return the states of ``ids``, the first of which stands at position ``start``.

        ``at`` names every position instead, where some were left out between; ``segments`` says
        which span each token belongs to; ``memory`` keeps the last ids for the runs of later ones.
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
        """How well each token's vector answers each state: the output tied to the input."""
        return nn.functional.linear(states, self.table)


class Ngrams(nn.Module):
    """Vectors of the runs of 2 to ``longest`` tokens that end at each position.

    A run is found by a hash, so that every possible one has a row and some share theirs. A run
    never reaches back beyond ``boundary``, its own last token or another: what stands before it
    counts as nothing.

    Args:
        longest: The longest run.
        rows: How many vectors the runs of one length share.
        width: Size of a vector.
        boundary: The id that ends a document.
        dropout: Share of the runs left out while training, each run as a whole: otherwise those
            seen once are learned by heart, and the tokens alone learn too little.
        lazy: Whether gradients name only the rows that were read.

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

    def know(self, known: UInt8[Tensor, "length byte"]) -> None:
        """Let only these runs have vectors: a bit for each hash, the runs of a length in a row."""
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
        for run, table in zip(self.runs(every, ids.shape[1]), self.tables, strict=True):
            vectors = nn.functional.embedding(run % self.rows, table, sparse=self.lazy)
            if self.known is not None:
                vectors = vectors * self.is_known(run, len(found))[..., None]
            if self.training and self.dropout.share:
                vectors = vectors * self.dropout(vectors.new_ones(*ids.shape, 1))
            found.append(vectors)
        return sum(found[1:], start=found[0])

    def is_known(self, run: Int[Tensor, "batch position"], length: int) -> Tensor:
        """Say of each run whether it has a vector: 1 or 0."""
        if self.known is None:
            return torch.ones_like(run)
        place = run & KNOWN
        return self.known[length, place >> 3] >> (place & 7) & 1

    def runs(self, every: Int[Tensor, "batch longer"], positions: int) -> list[Tensor]:
        """Hash the runs of each length that end at the last positions, shortest first."""
        reach = self.longest - 1
        run = every[:, reach:]
        runs, ended = [], run == self.boundary
        for back in range(1, self.longest):
            earlier = every[:, reach - back : reach - back + positions]
            # Two odd constants of xxHash: any that scatter the bits would do.
            run = (run * 0x9E3779B1 + earlier.masked_fill(ended, 0) + 1) * 0x85EBCA77
            runs.append(run)
            ended = ended | (earlier == self.boundary)
        return [run ^ (run >> 29) for run in runs]
