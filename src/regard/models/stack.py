"""A stack of blocks: the encoder or decoder of a model.

    states_n = block_n(states_{n-1})        out = norm(states_depth)

Pre-norm blocks do not normalise their sum, so such a stack has a norm at its end; post-norm blocks
do not need it (Vaswani et al. 2017; Xiong et al. 2020).
"""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.block import Block, BlockMemory
from regard.layers.dropout import Dropout

StackMemory = list[BlockMemory]
"""Caches of all blocks, in order."""


class Stack(nn.Module):
    """A sequence of blocks.

    Args:
        blocks: The blocks, first one first.
        norm: Norm of the output; ``None`` for post-norm blocks.

    """

    def __init__(self, blocks: Sequence[Block], *, norm: nn.Module | None) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.Identity() if norm is None else norm

    def forward(
        self,
        states: Float[Tensor, "batch query width"],
        *,
        visible: Bool[Tensor, "#batch #head #query key"],
        context: Float[Tensor, "batch other width"] | None = None,
        context_visible: Bool[Tensor, "#batch 1 1 other"] | None = None,
        memory: StackMemory | None = None,
    ) -> Float[Tensor, "batch query width"]:
        """Apply all blocks; with ``memory``, ``states`` are the new positions only."""
        for number, block in enumerate(self.blocks):
            states = block(
                states,
                visible=visible,
                context=context,
                context_visible=context_visible,
                memory=None if memory is None else memory[number],
            )
        return self.norm(states)

    def memory(self) -> StackMemory:
        """Return an empty memory for this stack."""
        return [BlockMemory() for _ in self.blocks]


class Bare(nn.Module):
    """A sequence of mixers without residual connections, norms and feed-forward layers.

    As in HAN and the structured embedding (Yang et al. 2016, Lin et al. 2017).

    Args:
        mixers: The mixers, first one first.
        dropout: Share of each mixer's output dropped while training.

    """

    def __init__(self, mixers: Sequence[nn.Module], *, dropout: float = 0.0) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(mixers)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        states: Float[Tensor, "batch position entering"],
        *,
        visible: Bool[Tensor, "#batch 1 #position key"],
    ) -> Float[Tensor, "batch position width"]:
        for mixer in self.blocks:
            states = self.dropout(mixer(states, visible=visible))
        return states
