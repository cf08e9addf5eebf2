"""Heads: where states become answers. A body carries over to another task; its head does not."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.embedding import Embedding


class TokenHead(nn.Module):
    """One logit per token that can be written.

    Args:
        width: Size of one state.
        tokens: Size of the vocabulary.
        table: The table whose rows the states are compared with (tied, Press and Wolf 2017);
            ``None`` gives the head a matrix of its own.
        soft_cap: Bends logits smoothly into ±soft_cap; 0 leaves them.

    """

    def __init__(
        self, width: int, tokens: int, *, table: Embedding | None = None, soft_cap: float = 0.0
    ) -> None:
        super().__init__()
        self.table = table
        self.to_logits = nn.Linear(width, tokens, bias=False) if table is None else None
        self.tokens, self.soft_cap = tokens, soft_cap
        self.written: Tensor | None
        self.register_buffer("written", None)
        self._places: Tensor | None = None

    def write_only(self, ids: Int[Tensor, " writable"]) -> None:
        """Compare states with these tokens only: no other can be written, nor costs anything."""
        self.register_buffer("written", ids)
        places = torch.full((self.tokens,), -1)
        places[ids] = torch.arange(len(ids))
        self._places = places

    @property
    def matrix(self) -> Float[Tensor, "writable width"]:
        """What states are compared with, one row for each token that can be written."""
        matrix = self.to_logits.weight if self.to_logits is not None else self._table.table
        return matrix if self.written is None else matrix.index_select(0, self.written)

    def places(self, ids: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
        """Rows of :attr:`matrix` at which these tokens stand; -1 for one that cannot be written."""
        return ids if self._places is None else self._places[ids]

    def bend(self, logits: Float[Tensor, "*any token"]) -> Float[Tensor, "*any token"]:
        """Bring logits smoothly into the soft cap, if there is one."""
        return self.soft_cap * torch.tanh(logits / self.soft_cap) if self.soft_cap else logits

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any vocabulary"]:
        """Logits of the whole vocabulary; -∞ for tokens that cannot be written."""
        logits = self.bend(nn.functional.linear(states, self.matrix))
        if self.written is None:
            return logits
        everything = logits.new_full((*logits.shape[:-1], self.tokens), -torch.inf)
        return everything.index_copy(-1, self.written, logits)

    @property
    def _table(self) -> Embedding:
        assert self.table is not None
        return self.table


class LabelHead(nn.Module):
    """One logit per label, from a pooled text.

    Args:
        pool: Turns a text's states into one state.
        width: Size of that state.
        labels: How many labels there are.

    """

    def __init__(self, pool: nn.Module, width: int, labels: int) -> None:
        super().__init__()
        self.pool = pool
        self.to_logits = nn.Linear(width, labels)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch 1 1 position"],
    ) -> Float[Tensor, "batch label"]:
        return self.to_logits(self.pool(states, visible=visible))
