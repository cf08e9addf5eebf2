"""Adam for sparse gradients: only the rows of a table that are in a batch are updated.

    mean   = lerp(gradient, mean, β₁)        square = lerp(gradient², square, β₂)     of those rows
    row    = row - rate·√(1 - β₂ᵗ)/(1 - β₁ᵗ) · mean / (√square + ε)
    table  = (1 - rate·decay)ⁿ · table       of all rows, every n steps

Rows that are not in the batch keep their values and moments, as in torch's SparseAdam; dense Adam
would go on updating them. Weight decay applies to all rows, but once every n steps: one pass over a
table of a hundred thousand rows costs as much as a whole batch.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

DECAY_EVERY = 32  # steps; at rate 2e-3 and decay 1 a row is at most 6% too long in between


class RowAdam(torch.optim.Optimizer):
    """Adam for tables whose gradients are sparse.

    Args:
        tables: The tables, or torch parameter groups of them.
        rate: Learning rate.
        betas: Decay of the running means of gradients and squared gradients.
        epsilon: Keeps the division finite.
        weight_decay: Decoupled weight decay per step.

    """

    def __init__(
        self,
        tables: Iterable[Any],
        *,
        rate: float,
        betas: tuple[float, float] = (0.9, 0.98),
        epsilon: float = 1e-9,
        weight_decay: float = 0.0,
    ) -> None:
        defaults = {
            "lr": rate,
            "rate": rate,
            "betas": betas,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
        }
        super().__init__(list(tables), defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every row that has a gradient."""
        assert closure is None
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    self._update(table, group)

    def _update(self, table: Tensor, group: dict[str, Any]) -> None:
        assert table.grad is not None
        state = self.state[table]
        if not state:
            state["step"] = torch.zeros(())
            state["mean"], state["square"] = torch.zeros_like(table), torch.zeros_like(table)
        state["step"] += 1
        step, (beta1, beta2) = int(state["step"]), group["betas"]
        sparse = table.grad.coalesce()
        rows, gradient = sparse.indices()[0], sparse.values()
        mean = state["mean"][rows].lerp_(gradient, 1 - beta1)
        square = state["square"][rows].lerp_(gradient.square(), 1 - beta2)
        state["mean"][rows], state["square"][rows] = mean, square
        rate = group["lr"] * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        table.index_add_(0, rows, mean / (square.sqrt() + group["epsilon"]), alpha=-rate)
        if step % DECAY_EVERY == 0 and group["weight_decay"]:
            table.mul_((1 - group["lr"] * group["weight_decay"]) ** DECAY_EVERY)
