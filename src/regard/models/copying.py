"""Copying: beside writing a word of the vocabulary, a model may point at one in its source.

    key_i   = W context_i + B context_{i-1}               what stands there, and what before it
    weights = softmax(query·key / √width)                 where it points
    g       = σ(w·[state; weights·context] + b)           how much is written, how much is copied
    p(y)    = g·p_vocabulary(y) + (1 - g)·Σ_{i: xᵢ = y} weightsᵢ       (See et al. 2017, eq. 9)

The pointer is one more look of the decoder's last states into what was read, with a head of its
own, so that the other heads stay free to look elsewhere. Its keys know what stands before them, so
that a copy can go on where it is: "what followed the word I wrote last" is one product (the smeared
keys of Olsson et al. 2022). A token that the head cannot write can still be copied.

    coverage c_t = Σ_{s < t} weights_s      looked at again: Σ_t Σ_i min(weights_ti, c_ti)
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.attention import attend, scaled_dot, softmax
from regard.layers.memory import Memory
from regard.layers.tap import Tap

SURE = 0.7  # how surely a pointer begins by going on: two equal states score ½·√width


class Pointed(NamedTuple):
    """Where each position points, and whether it would rather write."""

    weights: Float[Tensor, "batch query key"]
    """Where it points; a row sums to one."""
    writes: Float[Tensor, "batch query"]
    """The logit of g: above zero it would rather write, below it would rather copy."""


class Copying(nn.Module):
    """A pointer into the source, and a gate between pointing and writing.

    Args:
        width: Size of one state.

    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.to_query = nn.Linear(width, width, bias=False)
        self.to_key = nn.Linear(width, width, bias=False)
        self.to_key_after = nn.Linear(width, width, bias=False)
        self.gate_head = nn.Linear(2 * width, 1)
        self.weights, self.gate = Tap(), Tap()

    @torch.no_grad()
    def begin_by_going_on(self) -> None:
        """Point, at first, at what follows the word written last; states are then tokens alone."""
        nn.init.zeros_(self.to_key.weight)
        for matrix in (self.to_query, self.to_key_after):
            nn.init.eye_(matrix.weight).mul_(SURE)

    def forward(
        self,
        states: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch key width"] | None,
        *,
        visible: Bool[Tensor, "#batch 1 1 key"],
        memory: Memory | None = None,
    ) -> Pointed:
        """Point from ``states`` into ``context``; once that is in ``memory`` it may be left out."""
        key, value = self._looked_up(context, memory)
        attended = attend(
            self.to_query(states)[:, None],
            key[:, None],
            value[:, None],
            score=scaled_dot,
            select=softmax,
            visible=visible,
        )
        weights, seen = self.weights(attended.weights[:, 0]), attended.mixed[:, 0]
        writes = self.gate_head(torch.cat([states, seen], dim=-1))[..., 0]
        return Pointed(weights, self.gate(writes))

    def _looked_up(self, context: Tensor | None, memory: Memory | None) -> tuple[Tensor, Tensor]:
        if memory and "context key" in memory:
            return memory["context key"], memory["context value"]
        assert context is not None
        before = nn.functional.pad(context, (0, 0, 1, 0))[:, :-1]
        key = self.to_key(context) + self.to_key_after(before)
        if memory is not None:
            memory["context key"], memory["context value"] = key, context
        return key, context


def likelihood(
    pointed: Pointed,
    written: Float[Tensor, "batch query"],
    *,
    matches: Bool[Tensor, "batch query key"],
) -> Float[Tensor, "batch query"]:
    """Log p(y) of one token per position.

    ``written`` is log p_vocabulary(y), -∞ where y cannot be written; ``matches`` says where in the
    source y stands.
    """
    copied = (pointed.weights * matches).sum(dim=-1)
    least = torch.finfo(copied.dtype).tiny  # the logarithm's slope at zero is infinite
    log_copied = copied.clamp_min(least).log()
    return torch.logaddexp(
        nn.functional.logsigmoid(pointed.writes) + written,
        nn.functional.logsigmoid(-pointed.writes) + log_copied,
    )


def mixture(
    pointed: Pointed,
    logits: Float[Tensor, "batch query vocabulary"],
    *,
    source: Int[Tensor, "batch key"],
) -> Float[Tensor, "batch query vocabulary"]:
    """Log p of every token: what is written and what is copied, added up."""
    written = pointed.writes.sigmoid()[..., None] * logits.softmax(dim=-1)
    copied = (-pointed.writes).sigmoid()[..., None] * pointed.weights
    places = source[:, None].expand(-1, copied.shape[1], -1)
    return written.scatter_add(-1, places, copied).log()


def looked_again(
    weights: Float[Tensor, "batch query key"], counted: Bool[Tensor, "batch query"]
) -> Float[Tensor, ""]:
    """Sum how much of each look fell where earlier ones had been, over ``counted`` positions."""
    covered = weights.cumsum(dim=1) - weights
    return torch.minimum(weights, covered).sum(dim=-1)[counted].sum()
