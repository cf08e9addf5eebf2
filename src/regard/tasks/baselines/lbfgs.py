"""L-BFGS (Nocedal 1980) for smooth functions whose gradient is known in closed form."""

from collections.abc import Callable

import torch
from torch import Tensor

HISTORY = 8  # pairs of step and change of gradient that the curvature is estimated from

LossAndGradient = Callable[[Tensor], tuple[float, Tensor]]


def minimize(
    function: LossAndGradient, start: Tensor, *, iterations: int, tolerance: float
) -> Tensor:
    """Return where the largest part of the gradient is ``tolerance`` times that at ``start``.

    After ``iterations`` the point reached by then is returned.
    """
    point = start.clone()

    def evaluate() -> float:
        loss, point.grad = function(point)
        return loss

    evaluate()
    assert point.grad is not None
    optimizer = torch.optim.LBFGS(
        [point],
        max_iter=iterations,
        max_eval=4 * iterations,
        history_size=HISTORY,
        tolerance_grad=tolerance * float(point.grad.abs().max()),
        tolerance_change=0.0,
        line_search_fn="strong_wolfe",
    )
    optimizer.step(evaluate)
    return point
