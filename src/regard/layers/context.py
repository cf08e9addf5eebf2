"""Context-aware attention pooling: attention to words depends on other sentences of the document.

    key(t) = tanh(W·h(t) + W_c·c + b)                                        (Remy et al. 2019)
    gated:  λ(t) = σ(w·h(t) + w_c·c + b_λ),  key(t) = tanh(λ·W·h(t) + (1 - λ)·W_c·c + b)
    s = Σ α(t)·h(t),  α = softmax(key · query)

``c`` combines the vectors of other sentences. With c = 0 and no gate it is HAN's attention.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.attention import AttentionOutput, attend, dot, softmax


class ContextPool(nn.Module):
    """Attention pooling with one learned query, conditioned on a context.

    Args:
        width: Size of one state, and of the context.
        features: Size of query and keys.
        gated: Whether a gate per word weighs the context.

    """

    def __init__(self, width: int, *, features: int, gated: bool = False) -> None:
        super().__init__()
        self.to_key = nn.Linear(width, features)
        self.from_context = nn.Linear(width, features, bias=False)
        self.gate = nn.Linear(width, 1) if gated else None
        self.gate_context = nn.Linear(width, 1, bias=False) if gated else None
        self.queries = nn.Parameter(torch.empty(1, features).normal_(std=features**-0.5))

    def attend(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch 1 1 position"],
        context: Float[Tensor, "batch width"],
    ) -> AttentionOutput:
        """Return the pooled words of each sentence, with the attention weights."""
        query = self.queries.expand(len(states), 1, -1, -1)
        key = torch.tanh(self._combine(states, context))[:, None]
        return attend(query, key, states[:, None], score=dot, select=softmax, visible=visible)

    def _combine(
        self,
        states: Float[Tensor, "batch position width"],
        context: Float[Tensor, "batch width"],
    ) -> Float[Tensor, "batch position feature"]:
        around = self.from_context(context)[:, None]
        if self.gate is None or self.gate_context is None:
            return self.to_key(states) + around
        share = torch.sigmoid(self.gate(states) + self.gate_context(context)[:, None])
        own = nn.functional.linear(states, self.to_key.weight)
        return share * own + (1 - share) * around + self.to_key.bias
