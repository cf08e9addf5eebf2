"""A body maps ids to states. It is what pretraining trains and what is transferred between tasks.

    states = stack(reading(ids))

Attention is causal if the stack was built so, or if the caller's ``visible`` makes it so (for the
hybrid objective).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.embedding import Embedding
from regard.layers.memory import Memory
from regard.models.stack import Bare, Stack, StackMemory


@dataclass
class BodyMemory:
    """Caches of a body for generation step by step."""

    reading: Memory
    stack: StackMemory
    positions: int = 0
    """Number of positions processed."""

    def keep(self, rows: Int[Tensor, " row"]) -> None:
        """Select rows, in this order; a row may be repeated or dropped."""
        self.reading.keep(rows)
        for memory in self.stack:
            memory.keep(rows)


class Body(nn.Module):
    """Embedding layer and blocks, without an output layer.

    Args:
        reading: The embedding layer.
        stack: The blocks, or mixers alone; these have no memory.

    """

    def __init__(self, reading: Embedding, stack: Stack | Bare) -> None:
        super().__init__()
        self.reading, self.stack = reading, stack

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        visible: Bool[Tensor, "#batch 1 #position key"],
        segments: Int[Tensor, "batch position"] | None = None,
        at: Int[Tensor, "batch position"] | None = None,
        memory: BodyMemory | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Return the states of ``ids``; with ``memory`` they are the new positions only."""
        if memory is None:
            states = self.reading(ids, segments=segments, at=at)
            return self.stack(states, visible=visible)
        states = self.reading(
            ids, start=memory.positions, segments=segments, at=at, memory=memory.reading
        )
        memory.positions += ids.shape[1]
        return self.stack(states, visible=visible, memory=memory.stack)

    def memory(self) -> BodyMemory:
        """Return an empty memory for this body."""
        assert isinstance(self.stack, Stack), "mixers alone have no memory"
        return BodyMemory(Memory(), self.stack.memory())


def all_visible(
    positions: int, *, device: torch.device | None = None
) -> Bool[Tensor, "1 1 1 position"]:
    """Return a mask that hides nothing."""
    return torch.ones(1, 1, 1, positions, dtype=torch.bool, device=device)
