"""The feed-forward layer, applied to each position independently.

FF(x)     = act(x · W₁ + b₁) · W₂ + b₂                (Vaswani et al. 2017, eq. 2)
SwiGLU(x) = (silu(x · W_g) ⊙ (x · W₁)) · W₂           (Shazeer 2020, eq. 6)
act: ReLU; GELU (Hendrycks and Gimpel 2016); ReLU² (So et al. 2021)
"""

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.layers.dropout import Dropout

Activation = Literal["relu", "gelu", "swiglu", "relu2"]


class FeedForward(nn.Module):
    """act(x · W₁ + b₁) · W₂ + b₂.

    Args:
        width: Size of one state.
        inner: Hidden size.
        activation: The activation; ``swiglu`` adds a third matrix, the gate.
        biases: Whether the matrices have biases.
        dropout: Share of the hidden layer dropped while training.

    """

    def __init__(
        self,
        width: int,
        inner: int,
        *,
        activation: Activation = "relu",
        biases: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.to_inner = nn.Linear(width, inner, bias=biases)
        self.to_gate = nn.Linear(width, inner, bias=biases) if activation == "swiglu" else None
        self.to_output = nn.Linear(inner, width, bias=biases)
        self.dropout = Dropout(dropout)

    def forward(self, states: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes width"]:
        inner = self.to_inner(states)
        if self.to_gate is not None:
            hidden = nn.functional.silu(self.to_gate(states)) * inner
        else:
            hidden = _ACTIVATIONS[self.activation](inner)
        return self.to_output(self.dropout(hidden))


def relu2(inner: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """max(0, x)²  (So et al. 2021)."""
    return _Relu2.apply(inner)  # type: ignore[no-untyped-call]


class _Relu2(torch.autograd.Function):
    """y = max(0, x)², ∂x = 2·max(0, x)·∂y: half the time of ``relu(x).square()``."""

    @staticmethod
    def forward(ctx: Any, inner: Tensor) -> Tensor:  # noqa: ANN401
        positive = inner.relu()
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # noqa: ANN401
        (positive,) = ctx.saved_tensors
        return (gradient * positive).mul_(2)


_ACTIVATIONS = {"relu": torch.relu, "gelu": nn.functional.gelu, "relu2": relu2}
