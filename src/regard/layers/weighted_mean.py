"""Weighted mean pooling with one weight per token of the vocabulary.

    pooled = Σ exp(a(id)) · x(t) / Σ exp(a(id))        over visible positions

The numbers a are fixed (such as log inverse document frequencies: the sentence embedding of Arora
et al. 2017 without its last step) or learned.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class WeightedMean(nn.Module):
    """Σ exp(a)·x / Σ exp(a).

    Args:
        tokens: Number of different ids.
        learned: Whether the weights are trained.

    """

    def __init__(self, tokens: int, *, learned: bool) -> None:
        super().__init__()
        self.importance = nn.Parameter(torch.zeros(tokens), requires_grad=learned)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        ids: Int[Tensor, "batch position"],
        visible: Bool[Tensor, "#batch 1 1 position"],
    ) -> Float[Tensor, "batch width"]:
        seen = visible[:, 0, 0]
        scores = self.importance[ids].masked_fill(~seen, -torch.inf)
        weights = torch.softmax(scores, dim=-1).masked_fill(~seen, 0.0)
        return torch.einsum("bp,bpw->bw", weights.nan_to_num(), states)
