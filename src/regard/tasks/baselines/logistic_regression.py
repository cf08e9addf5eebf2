"""Logistic regression with an L2 penalty, on sparse or dense features.

    w, b = argmin  C·Σ cross entropy(r·x·w + b, y) + ½‖w‖²

The features may have a factor ``r`` for each column; the weights of x are then r·w. The bias is
not penalised. Solved by L-BFGS; ``y`` may be any probability, so that a score between 0 and 1 is
learned as well as a label. One column of ``w`` for each label; exclusive labels share a softmax,
others have a sigmoid each.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, embedding_bag

from regard.tasks.baselines.hashed_ngrams import Bags
from regard.tasks.baselines.lbfgs import descend

ROUNDS = 100  # of L-BFGS
FLAT = 0.003  # share of the first gradient's norm at which the search ends
ROUGH = 0.01  # ... where only settings are chosen


class Matrix:
    """Features of texts: sparse ones, dense ones, or both.

    The sum over a text's features is a lookup in its bag, and the sum over a feature's texts, which
    the gradient needs, a lookup in the transposed bag.

    Args:
        dense: The dense columns; there may be none.
        bags: The sparse columns, which stand first; their rows are numbered from 0.
        sparse: How many of these there are.
        factors: Of each sparse column for each column of the weights; 1 if there are none.

    """

    def __init__(
        self,
        dense: Tensor,
        bags: Bags | None = None,
        sparse: int = 0,
        factors: Tensor | None = None,
    ) -> None:
        self.dense, self.bags, self.sparse, self.factors = dense, bags, sparse, factors
        self.texts = transpose(bags, sparse) if bags is not None else None
        self.features = sparse + dense.shape[1]

    def times(self, weights: Tensor) -> Tensor:
        """Multiply by weights, one row for each feature."""
        found = self.dense.to(weights.dtype) @ weights[self.sparse :]
        if self.bags is None:
            return found
        return found + weighted_sum(self._scale(weights[: self.sparse]), self.bags)

    def transposed_times(self, errors: Tensor) -> Tensor:
        """Multiply the transpose by errors, one row for each text."""
        found = self.dense.to(errors.dtype).T @ errors
        if self.texts is None:
            return found
        return torch.cat([self._scale(weighted_sum(errors, self.texts)), found])

    def scale(self, found: Tensor) -> Tensor:
        """Return the weights of the features themselves, without factors."""
        return torch.cat([self._scale(found[: self.sparse]), found[self.sparse :]])

    def _scale(self, weights: Tensor) -> Tensor:
        return weights if self.factors is None else self.factors * weights


def fit_logistic(
    matrix: Matrix,
    targets: Tensor,
    *,
    strength: float,
    exclusive: bool,
    start: Tensor | None = None,
    rounds: int = ROUNDS,
    flat: float = FLAT,
) -> Tensor:
    """Return the weights and, as the last row, the biases; ``strength`` is C."""

    def objective(found: Tensor) -> tuple[float, Tensor]:
        weights, biases = found[:-1], found[-1]
        lost, errors = cross_entropy(matrix.times(weights) + biases, targets, exclusive=exclusive)
        errors = strength * errors
        slope = matrix.transposed_times(errors) + weights
        gradient = torch.cat([slope, errors.sum(dim=0, keepdim=True)])
        return strength * float(lost) + 0.5 * float(weights.square().sum()), gradient

    if start is None:
        start = targets.new_zeros(matrix.features + 1, targets.shape[1])
    return descend(objective, start, rounds=rounds, flat=flat)


def cross_entropy(logits: Tensor, targets: Tensor, *, exclusive: bool) -> tuple[Tensor, Tensor]:
    """Return the sum over texts and its gradient: probabilities minus targets."""
    lost = cross_entropies(logits, targets, exclusive=exclusive).sum()
    if exclusive and logits.shape[1] > 1:
        return lost, logits.softmax(dim=1) - targets
    return lost, logits.sigmoid() - targets


def cross_entropies(logits: Tensor, targets: Tensor, *, exclusive: bool) -> Tensor:
    """Return the cross entropy of each text."""
    if exclusive and logits.shape[1] > 1:
        return -(targets * logits.log_softmax(dim=1)).sum(dim=1)
    return binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(dim=1)


def transpose(bags: Bags, features: int) -> Bags:
    """Return the texts in which each feature occurs."""
    texts = np.repeat(np.arange(len(bags), dtype=np.int32), np.diff(bags.offsets))
    order = np.argsort(bags.rows, kind="stable")
    counts = np.bincount(bags.rows, minlength=features)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Bags(texts[order], offsets, bags.values[order])


def weighted_sum(table: Tensor, bags: Bags) -> Tensor:
    """Sum the rows of ``table`` that each bag names, times their values."""
    rows, offsets = torch.from_numpy(bags.rows), torch.from_numpy(bags.offsets.astype(np.int32))
    return embedding_bag(
        rows,
        table.contiguous(),
        offsets,
        mode="sum",
        per_sample_weights=torch.from_numpy(bags.values).to(table.dtype),
        include_last_offset=True,
    )
