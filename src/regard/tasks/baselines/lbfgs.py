"""L-BFGS (Nocedal 1980): minimise a smooth function of many variables.

The direction is -H·gradient. H, the inverse Hessian, is approximated by the last few pairs
s = step, y = change of the gradient, and applied in two loops over them.
"""

from collections import deque
from collections.abc import Callable

from torch import Tensor

MEMORY = 8  # pairs
SUFFICIENT_DECREASE = 1e-4  # of what the slope predicts (Armijo)
SHORTEST = 1e-6

Objective = Callable[[Tensor], tuple[float, Tensor]]
"""A point to its value and gradient."""


def descend(objective: Objective, point: Tensor, *, rounds: int, flat: float) -> Tensor:
    """Minimise from ``point`` until the gradient's norm has shrunk to the share ``flat``."""
    pairs: deque[tuple[Tensor, Tensor]] = deque(maxlen=MEMORY)
    value, gradient = objective(point)
    steep = float(gradient.norm())
    for _ in range(rounds):
        if float(gradient.norm()) <= flat * steep:
            break
        direction = _direction(gradient, pairs)
        found = _line_search(objective, point, value, gradient, direction, expand=not pairs)
        if found is None:
            break
        moved, value, changed = found
        step, change = moved - point, changed - gradient
        if float((step * change).sum()) > 0:
            pairs.append((step, change))
        point, gradient = moved, changed
    return point


def _direction(gradient: Tensor, pairs: deque[tuple[Tensor, Tensor]]) -> Tensor:
    direction, shares = -gradient, []
    for step, change in reversed(pairs):
        share = (step * direction).sum() / (step * change).sum()
        shares.append(share)
        direction = direction - share * change
    if pairs:
        step, change = pairs[-1]
        direction = direction * ((step * change).sum() / change.square().sum())
    else:
        direction = direction / gradient.norm()
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        rest = share - (change * direction).sum() / (step * change).sum()
        direction = direction + rest * step
    return direction


def _line_search(
    objective: Objective,
    point: Tensor,
    value: float,
    gradient: Tensor,
    direction: Tensor,
    *,
    expand: bool,
) -> tuple[Tensor, float, Tensor] | None:
    """Halve the step until it descends enough; without curvature (``expand``), double it first."""
    slope, length = float((gradient * direction).sum()), 1.0
    found = point + direction, *objective(point + direction)
    while expand and found[1] < value + SUFFICIENT_DECREASE * length * slope:
        farther = point + 2 * length * direction
        lower = farther, *objective(farther)
        if lower[1] >= found[1]:
            return found
        found, length = lower, 2 * length
    while not found[1] <= value + SUFFICIENT_DECREASE * length * slope:
        length /= 2
        if length < SHORTEST:
            return None
        nearer = point + length * direction
        found = nearer, *objective(nearer)
    return found
