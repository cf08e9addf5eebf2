"""The structured self-attentive embedding (Lin et al. 2017): attention pooling with several hops.

    A = softmax(W₂·tanh(W₁·Hᵀ)),   M = A·H            one row of M per hop
    p = softmax(V·narrow(M)),      loss = -log p(label) + λ·penalty(A)

Between M and the labels is nothing, a dense layer, or a pruned one (appendix A) with separate
outputs for each row and each column of M:

    dense    relu(W·vec(M))                       hops·width·outputs parameters
    pruned   relu([Mᵢ·Vᵢ for each row i;  Mᵀⱼ·Uⱼ for each column j])
             hops·width·(row features + column features) parameters

H are the states of any body; the paper's is a BiLSTM.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.diversity import PENALTIES
from regard.layers.pooling import AttentionPool
from regard.layers.tap import listen

Matrix = Float[Tensor, "batch hop width"]


class SelfAttentive(nn.Module):
    """M = A·H, mapped to one vector.

    Args:
        attention: The pooling; saved parameters call it ``looks``.
        narrow: Maps M to one vector.

    """

    def __init__(self, attention: AttentionPool, narrow: nn.Module) -> None:
        super().__init__()
        self.looks, self.narrow = attention, narrow

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch 1 1 position"],
    ) -> Float[Tensor, "batch pooled"]:
        return self.narrow(self.looks(states, visible=visible))


class Dense(nn.Module):
    """relu(W·vec(M) + b).

    Args:
        hops: Rows of M.
        width: Columns of M.
        outputs: Size of the output.

    """

    def __init__(self, hops: int, width: int, outputs: int) -> None:
        super().__init__()
        self.to_outputs = nn.Linear(hops * width, outputs)

    def forward(self, matrix: Matrix) -> Float[Tensor, "batch outputs"]:
        return torch.relu(self.to_outputs(matrix.flatten(1)))


class Pruned(nn.Module):
    """relu([Mᵢ·Vᵢ; Mᵀⱼ·Uⱼ]): separate outputs for rows and columns.

    Args:
        hops: Rows of M.
        width: Columns of M.
        row_features: Outputs of each row.
        column_features: Outputs of each column.

    """

    def __init__(self, hops: int, width: int, *, row_features: int, column_features: int) -> None:
        super().__init__()
        rows = torch.empty(hops, width, row_features).normal_(std=width**-0.5)
        columns = torch.empty(width, hops, column_features).normal_(std=hops**-0.5)
        self.rows, self.columns = nn.Parameter(rows), nn.Parameter(columns)
        self.outputs = hops * row_features + width * column_features

    def forward(self, matrix: Matrix) -> Float[Tensor, "batch outputs"]:
        by_row = torch.einsum("bhw,hwp->bhp", matrix, self.rows)
        by_column = torch.einsum("bhw,whq->bwq", matrix, self.columns)
        return torch.relu(torch.cat([by_row.flatten(1), by_column.flatten(1)], dim=1))


class PenalisedLogits(NamedTuple):
    """Logits of one forward pass, and the diversity penalty."""

    logits: Float[Tensor, "batch label"]
    penalty: Float[Tensor, " batch"]


def forward_with_penalty(
    model: nn.Module, read: Callable[[], Tensor], *, penalty: str
) -> PenalisedLogits:
    """Run a forward pass, and compute the diversity penalty of its hops."""
    with listen(model, "head.pool.looks.weights") as recorded:
        logits = read()
    ((weights,),) = recorded.values()
    return PenalisedLogits(logits, PENALTIES[penalty](weights[:, 0]))
