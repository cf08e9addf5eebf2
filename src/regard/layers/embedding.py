"""Embedding: ids become states, and states become logits through the same table.

state(t) = E[id(t)] · √width, then the position joins      (Vaswani et al. 2017, §3.4)
logits   = state · Eᵀ                                      (Press and Wolf 2017)
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.position import Added, Concatenated


class Embedding(nn.Module):
    """One learned vector per token.

    Args:
        tokens: Number of different ids.
        width: Size of a token's vector.
        scaled: Whether vectors are multiplied by √width when they enter.
        place: How a position joins the token; None for not at all.
        dropout: Share of the entering states dropped while training.

    """

    def __init__(
        self,
        tokens: int,
        width: int,
        *,
        scaled: bool,
        place: Added | Concatenated | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(tokens, width).normal_(std=width**-0.5))
        self.scale = math.sqrt(width) if scaled else 1.0
        self.place = place
        self.dropout = Dropout(dropout)

    def forward(
        self, ids: Int[Tensor, "batch position"], *, start: int = 0
    ) -> Float[Tensor, "batch position width"]:
        """Return the states of ``ids``, the first of which stands at position ``start``."""
        states = nn.functional.embedding(ids, self.table)
        if self.scale != 1.0:
            states = states * self.scale
        if self.place is not None:
            states = self.place(states, start=start)
        return self.dropout(states)

    def logits(self, states: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes token"]:
        """How well each token's vector answers each state: the output tied to the input."""
        return nn.functional.linear(states, self.table)
