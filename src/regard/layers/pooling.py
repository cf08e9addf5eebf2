"""Pooling: a text of any length becomes one state, or a few.

    first   x(0)                                  the state of [CLS]
    cls     tanh(W·x(0) + b)                      BERT's pooler (Devlin et al. 2019)
    last    x(n - 1)                              for a causal body
    mean    Σ x(t) / n, over visible positions
    max     maximum of each feature, over visible positions
    attention: key = tanh(states · Wᵀ + b), value = states, query = learned, one per hop

With one hop attention is that of HAN (Yang et al. 2016, eq. 5-7); with many it is the structured
self-attentive embedding M = A·H (Lin et al. 2017, eq. 6-7). A row without visible positions pools
to 0.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.attention import AttentionOutput, attend, dot, softmax
from regard.layers.tap import Tap

States = Float[Tensor, "batch position width"]
Visible = Bool[Tensor, "#batch 1 1 position"]
Pooled = Float[Tensor, "batch width"]


class First(nn.Module):
    """x(0)."""

    def forward(self, states: States, *, visible: Visible) -> Pooled:
        return states[:, 0].masked_fill(~visible[:, 0, 0, :1], 0.0)


class Cls(nn.Module):
    """tanh(W·x(0) + b).

    Args:
        width: Size of one state.

    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.dense = First(), nn.Linear(width, width)

    def forward(self, states: States, *, visible: Visible) -> Pooled:
        return torch.tanh(self.dense(self.first(states, visible=visible)))


class Last(nn.Module):
    """x(n - 1): the last position that is visible."""

    def forward(self, states: States, *, visible: Visible) -> Pooled:
        seen = visible[:, 0, 0].expand(len(states), -1)
        last = (seen * torch.arange(1, seen.shape[1] + 1, device=seen.device)).amax(dim=1)
        rows = torch.arange(len(states), device=states.device)
        found = states[rows, (last - 1).clamp(min=0)]
        return found.masked_fill(last[:, None] == 0, 0.0)


class Mean(nn.Module):
    """Σ x(t) / n."""

    def forward(self, states: States, *, visible: Visible) -> Pooled:
        seen = visible[:, 0, 0, :, None]
        return states.masked_fill(~seen, 0.0).sum(dim=1) / seen.sum(dim=1).clamp(min=1)


class Max(nn.Module):
    """Maximum of each feature."""

    def forward(self, states: States, *, visible: Visible) -> Pooled:
        seen = visible[:, 0, 0, :, None]
        largest = states.masked_fill(~seen, torch.finfo(states.dtype).min).amax(dim=1)
        return largest.masked_fill(~seen.any(dim=1), 0.0)


class MeanMax(nn.Module):
    """[mean, max]: twice as wide as a state."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.max = Mean(), Max()

    def forward(self, states: States, *, visible: Visible) -> Float[Tensor, "batch twice"]:
        both = [self.mean(states, visible=visible), self.max(states, visible=visible)]
        return torch.cat(both, dim=-1)


class AttentionPool(nn.Module):
    """Attention pooling with ``hops`` learned queries.

    Args:
        width: Size of one state.
        hops: Number of queries, and of states returned.
        features: Size of queries and keys.
        biases: Whether keys have a bias, as HAN's do and those of Lin et al. do not.

    """

    def __init__(self, width: int, hops: int = 1, *, features: int, biases: bool = True) -> None:
        super().__init__()
        self.to_key = nn.Linear(width, features, bias=biases)
        self.queries = nn.Parameter(torch.empty(hops, features).normal_(std=features**-0.5))
        self.weights = Tap()

    def forward(self, states: States, *, visible: Visible) -> Float[Tensor, "batch hop width"]:
        return self.attend(states, visible=visible).mixed[:, 0]

    def attend(self, states: States, *, visible: Visible) -> AttentionOutput:
        """Return the pooled states of each query, with the attention weights."""
        query = self.queries.expand(states.shape[0], 1, -1, -1)
        key = torch.tanh(self.to_key(states))[:, None]
        value = states[:, None]
        attended = attend(query, key, value, score=dot, select=softmax, visible=visible)
        self.weights(attended.weights)
        return attended
