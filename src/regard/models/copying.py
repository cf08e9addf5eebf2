"""Copy mechanism (pointer-generator): generate a token of the vocabulary or copy one of the source.

    key_i   = W context_i + B context_{i-1}               token i and its predecessor
    weights = softmax(query·key / √width)                 the pointer distribution
    g       = σ(w·[state; weights·context] + b)           the gate: generate or copy
    p(y)    = g·p_vocabulary(y) + (1 - g)·Σ_{i: xᵢ = y} weightsᵢ       (See et al. 2017, eq. 9)

The pointer is an additional cross-attention head over the decoder's last states. Its keys include
the preceding token, so that a copy can continue: "the token after the last one copied" is one
product (the smeared keys of Olsson et al. 2022). Any token of the source can be copied.

    coverage c_t = Σ_{s < t} weights_s      coverage loss: Σ_t Σ_i min(weights_ti, c_ti)
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.attention import attend, scaled_dot, softmax
from regard.layers.memory import Memory
from regard.layers.tap import Tap

INITIAL_GAIN = 0.7  # of the pointer's projections: two equal states then score ½·√width


class PointerOutput(NamedTuple):
    """Pointer distribution and gate of each position."""

    weights: Float[Tensor, "batch query key"]
    """The pointer distribution; a row sums to one."""
    writes: Float[Tensor, "batch query"]
    """The logit of g: positive to generate, negative to copy."""


class Copying(nn.Module):
    """A pointer into the source, and a gate between copying and generating.

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
    def initialise_to_copy_next(self) -> None:
        """Initialise the pointer to the token after the last one, while blocks are the identity."""
        nn.init.zeros_(self.to_key.weight)
        for matrix in (self.to_query, self.to_key_after):
            nn.init.eye_(matrix.weight).mul_(INITIAL_GAIN)

    def forward(
        self,
        states: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch key width"] | None,
        *,
        visible: Bool[Tensor, "#batch 1 1 key"],
        memory: Memory | None = None,
    ) -> PointerOutput:
        """Point from ``states`` to ``context``, which may be omitted once it is in ``memory``."""
        key, value = self._project_context(context, memory)
        attended = attend(
            self.to_query(states)[:, None],
            key[:, None],
            value[:, None],
            score=scaled_dot,
            select=softmax,
            visible=visible,
        )
        weights, mixed = self.weights(attended.weights[:, 0]), attended.mixed[:, 0]
        writes = self.gate_head(torch.cat([states, mixed], dim=-1))[..., 0]
        return PointerOutput(weights, self.gate(writes))

    def _project_context(
        self, context: Tensor | None, memory: Memory | None
    ) -> tuple[Tensor, Tensor]:
        if memory and "context key" in memory:
            return memory["context key"], memory["context value"]
        assert context is not None
        before = nn.functional.pad(context, (0, 0, 1, 0))[:, :-1]
        key = self.to_key(context) + self.to_key_after(before)
        if memory is not None:
            memory["context key"], memory["context value"] = key, context
        return key, context


def likelihood(
    pointed: PointerOutput,
    written: Float[Tensor, "batch query"],
    *,
    matches: Bool[Tensor, "batch query key"],
) -> Float[Tensor, "batch query"]:
    """Return log p(y) of one token per position.

    ``written`` is log p_vocabulary(y), -∞ for y outside the output vocabulary; ``matches`` marks
    the source positions that hold y.
    """
    copied = (pointed.weights * matches).sum(dim=-1)
    least = torch.finfo(copied.dtype).tiny  # the logarithm's gradient at zero is infinite
    log_copied = copied.clamp_min(least).log()
    return torch.logaddexp(
        nn.functional.logsigmoid(pointed.writes) + written,
        nn.functional.logsigmoid(-pointed.writes) + log_copied,
    )


def mixture(
    pointed: PointerOutput,
    logits: Float[Tensor, "batch query vocabulary"],
    *,
    source: Int[Tensor, "batch key"],
) -> Float[Tensor, "batch query vocabulary"]:
    """Return log p of every token: the mixture of both distributions."""
    written = pointed.writes.sigmoid()[..., None] * logits.softmax(dim=-1)
    copied = (-pointed.writes).sigmoid()[..., None] * pointed.weights
    places = source[:, None].expand(-1, copied.shape[1], -1)
    return written.scatter_add(-1, places, copied).log()


def coverage_loss(
    weights: Float[Tensor, "batch query key"], counted: Bool[Tensor, "batch query"]
) -> Float[Tensor, ""]:
    """Return the coverage loss, summed over ``counted`` positions."""
    covered = weights.cumsum(dim=1) - weights
    return torch.minimum(weights, covered).sum(dim=-1)[counted].sum()
