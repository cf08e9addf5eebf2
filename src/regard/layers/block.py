"""The block: a token mixer, optionally cross-attention, then a feed-forward layer.

pre-norm    x ← x + dropout(part(norm(x)))        (Xiong et al. 2020)
post-norm   x ← norm(x + dropout(part(x)))        (Vaswani et al. 2017, §5.4)
parts       mixer, cross-attention (if any), feed-forward
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.memory import Memory

NormOrder = Literal["pre", "post"]


class Residual(nn.Module):
    """A layer with a residual connection, pre-norm or post-norm.

    Args:
        part: The layer; its first argument is the states.
        norm: The norm of this layer.
        order: Whether the norm comes before the layer or after the sum.
        dropout: Share of the layer's output dropped while training.

    """

    def __init__(
        self, part: nn.Module, norm: nn.Module, *, order: NormOrder = "pre", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.part, self.norm = part, norm
        self.order = order
        self.dropout = Dropout(dropout)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *others: Any,  # noqa: ANN401  whatever else the part takes
        **named: Any,  # noqa: ANN401
    ) -> Float[Tensor, "batch position width"]:
        if self.order == "pre":
            return states + self.dropout(self.part(self.norm(states), *others, **named))
        return self.norm(states + self.dropout(self.part(states, *others, **named)))


@dataclass
class BlockMemory:
    """The memories of one block: of its mixer and of its cross-attention."""

    own: Memory = field(default_factory=Memory)
    """Cache of the mixer."""
    cross: Memory = field(default_factory=Memory)
    """Keys and values of the context, computed once."""
    _origin: Tensor | None = None
    """For each row, its number when the context was cached."""

    def keep(self, rows: Int[Tensor, " row"]) -> None:
        """Select rows, in this order; a row may be repeated or dropped."""
        self.own.keep(rows)
        if not self.cross:
            return
        # Beam search mostly reorders answers to one source, which share their context: then the
        # larger cache need not move.
        origin = rows if self._origin is None else self._origin[rows]
        if self._origin is None or not torch.equal(origin, self._origin):
            self.cross.keep(rows)
        self._origin = origin


class Block(nn.Module):
    """One layer of a stack.

    Args:
        mixer: Attention, recurrence or convolution.
        feed_forward: Applied to each position independently.
        norms: Creates a norm; called once for each layer.
        order: Whether norms come before the layers or after the sums.
        dropout: Share of each layer's output dropped while training.
        cross: Cross-attention to a context; None for a block without it.

    """

    def __init__(
        self,
        mixer: nn.Module,
        feed_forward: nn.Module,
        *,
        norms: Callable[[], nn.Module],
        order: NormOrder = "pre",
        dropout: float = 0.0,
        cross: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.mixer = Residual(mixer, norms(), order=order, dropout=dropout)
        self.cross = None
        if cross is not None:
            self.cross = Residual(cross, norms(), order=order, dropout=dropout)
        self.feed_forward = Residual(feed_forward, norms(), order=order, dropout=dropout)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch #head #position key"],
        context: Float[Tensor, "batch source width"] | None = None,
        context_visible: Bool[Tensor, "#batch #head #position source"] | None = None,
        memory: BlockMemory | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Apply the block; with ``memory``, ``states`` are the new positions only.

        Once ``memory`` holds the context's keys, the context itself may be omitted.
        """
        own, cached = (memory.own, memory.cross) if memory is not None else (None, None)
        states = self.mixer(states, visible=visible, memory=own)
        if self.cross is not None:
            assert context_visible is not None
            assert context is not None or cached, "a context may be omitted once it is cached"
            states = self.cross(states, context, visible=context_visible, memory=cached)
        return self.feed_forward(states)
