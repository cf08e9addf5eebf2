"""A body: ids in, states out. What is learned from plain text, and carried from task to task.

    states = stack(reading(ids))

Whether a position sees what follows it is settled when the stack is built (``causal``), or left to
the caller's ``visible`` (a body that can do both, for the hybrid objective).
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
    """What a body keeps between two steps."""

    reading: Memory
    stack: StackMemory
    positions: int = 0
    """How many positions have been read."""

    def keep(self, rows: Int[Tensor, " row"]) -> None:
        """Go on with these rows, in this order; a row may be repeated or left out."""
        self.reading.keep(rows)
        for memory in self.stack:
            memory.keep(rows)


class Body(nn.Module):
    """Reading and thinking, without an answer.

    Args:
        reading: Turns ids into states.
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
        """Read ``ids``; with ``memory`` they are the new positions only."""
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
    """Nothing is hidden but by the body's own rule."""
    return torch.ones(1, 1, 1, positions, dtype=torch.bool, device=device)
