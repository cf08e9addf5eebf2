"""Adam on the rows that a step has read, for tables of which a step reads few.

    mean   = lerp(gradient, mean, β₁)        square = lerp(gradient², square, β₂)     of rows read
    row    = row - rate·√(1 - β₂ᵗ)/(1 - β₁ᵗ) · mean / (√square + ε)
    table  = (1 - rate·decay)ⁿ · table       of all rows, every n steps

A row that no text of the step has is left alone, its means too (as torch's SparseAdam leaves it);
dense Adam would go on moving it. Decay is owed by all rows and paid together every few steps: one
pass over a table of a hundred thousand rows costs as much as reading a whole batch.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

PAID_EVERY = 32  # steps; at rate 2e-3 and decay 1 a row is then at most 6% longer than it should be


class RowAdam(torch.optim.Optimizer):
    """Adam for tables whose gradients are sparse.

    Args:
        tables: The tables, or groups of them as torch has them.
        rate: Learning rate.
        betas: How slowly the running means forget.
        epsilon: Keeps the division finite.
        weight_decay: How strongly rows are pulled to zero each step.

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
        """Move every row that was read, once."""
        assert closure is None
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    self._move(table, group)

    def _move(self, table: Tensor, group: dict[str, Any]) -> None:
        assert table.grad is not None
        state = self.state[table]
        if not state:
            state["step"] = torch.zeros(())
            state["mean"], state["square"] = torch.zeros_like(table), torch.zeros_like(table)
        state["step"] += 1
        step, (slow, slower) = int(state["step"]), group["betas"]
        read = table.grad.coalesce()
        rows, gradient = read.indices()[0], read.values()
        mean = state["mean"][rows].lerp_(gradient, 1 - slow)
        square = state["square"][rows].lerp_(gradient.square(), 1 - slower)
        state["mean"][rows], state["square"][rows] = mean, square
        far = group["lr"] * (1 - slower**step) ** 0.5 / (1 - slow**step)
        table.index_add_(0, rows, mean / (square.sqrt() + group["epsilon"]), alpha=-far)
        if step % PAID_EVERY == 0 and group["weight_decay"]:
            table.mul_((1 - group["lr"] * group["weight_decay"]) ** PAID_EVERY)
