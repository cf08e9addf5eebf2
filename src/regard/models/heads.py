"""Heads: output layers. The body is transferred to another task; its head is not."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.embedding import Embedding


class TokenHead(nn.Module):
    """One logit per token of the output vocabulary.

    Args:
        width: Size of one state.
        tokens: Size of the vocabulary.
        table: Embeddings that serve as output matrix (weight tying, Press and Wolf 2017); ``None``
            for a separate matrix.
        bias: Whether every token has a bias.
        transform: Applied to states first; ``None`` for none.
        soft_cap: Logit soft-capping at ±soft_cap; 0 for none.

    """

    def __init__(
        self,
        width: int,
        tokens: int,
        *,
        table: Embedding | None = None,
        bias: bool = False,
        transform: nn.Module | None = None,
        soft_cap: float = 0.0,
    ) -> None:
        super().__init__()
        self.table, self.transform = table, transform
        self.to_logits = nn.Linear(width, tokens, bias=False) if table is None else None
        self.bias = nn.Parameter(torch.zeros(tokens)) if bias else None
        self.tokens, self.soft_cap = tokens, soft_cap
        self.written: Tensor | None
        self.register_buffer("written", None)
        self._places: Tensor | None
        self.register_buffer("_places", None, persistent=False)

    def restrict_vocabulary(self, ids: Int[Tensor, " writable"]) -> None:
        """Restrict the output vocabulary to these tokens, which also saves time."""
        self.register_buffer("written", ids)
        places = torch.full((self.tokens,), -1, device=ids.device)
        places[ids] = torch.arange(len(ids), device=ids.device)
        self._places = places

    @property
    def matrix(self) -> Float[Tensor, "writable width"]:
        """The output matrix, one row for each token of the output vocabulary."""
        matrix = self.to_logits.weight if self.to_logits is not None else self._table.table
        return matrix if self.written is None else matrix.index_select(0, self.written)

    @property
    def biases(self) -> Float[Tensor, " writable"] | None:
        """The bias of each row of :attr:`matrix`, if there are any."""
        if self.bias is None or self.written is None:
            return self.bias
        return self.bias.index_select(0, self.written)

    def transform_states(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
        """Apply the transform, if there is one."""
        return states if self.transform is None else self.transform(states)

    def places(self, ids: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
        """Return the rows of :attr:`matrix` of these tokens; -1 outside the output vocabulary."""
        return ids if self._places is None else self._places[ids]

    def cap_logits(self, logits: Float[Tensor, "*any token"]) -> Float[Tensor, "*any token"]:
        """Apply the soft cap, if there is one."""
        return self.soft_cap * torch.tanh(logits / self.soft_cap) if self.soft_cap else logits

    def logits(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any writable"]:
        """Return the logits of the output vocabulary, in the order of :attr:`matrix`."""
        prepared = self.transform_states(states)
        return self.cap_logits(nn.functional.linear(prepared, self.matrix, self.biases))

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any vocabulary"]:
        """Return the logits of the whole vocabulary; -∞ outside the output vocabulary."""
        logits = self.logits(states)
        if self.written is None:
            return logits
        everything = logits.new_full((*logits.shape[:-1], self.tokens), -torch.inf)
        return everything.index_copy(-1, self.written, logits)

    @property
    def _table(self) -> Embedding:
        assert self.table is not None
        return self.table


class Transform(nn.Module):
    """norm(gelu(W·state + b)): the transform of BERT's head.

    Args:
        width: Size of one state.
        epsilon: Prevents division by zero.

    """

    def __init__(self, width: int, *, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.dense, self.norm = nn.Linear(width, width), nn.LayerNorm(width, eps=epsilon)

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
        return self.norm(nn.functional.gelu(self.dense(states)))


class LabelHead(nn.Module):
    """One logit per label, from a pooled text.

    Args:
        pool: Turns a text's states into one state.
        width: Size of that state.
        labels: Number of labels.
        dropout: Share of the pooled state dropped while training.
        normed: Whether the pooled state is normalised to mean 0 and variance 1.

    """

    def __init__(
        self,
        pool: nn.Module,
        width: int,
        labels: int,
        *,
        dropout: float = 0.0,
        normed: bool = False,
    ) -> None:
        super().__init__()
        self.pool, self.dropout = pool, Dropout(dropout)
        self.norm = nn.LayerNorm(width, elementwise_affine=False) if normed else nn.Identity()
        self.to_logits = nn.Linear(width, labels)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch 1 1 position"],
    ) -> Float[Tensor, "batch label"]:
        pooled = self.pool(states, visible=visible).flatten(1)
        return self.to_logits(self.dropout(self.norm(pooled)))
