"""Descent on a smooth function of many numbers by what its last gradients show of its curvature.

L-BFGS (Nocedal 1980): the direction is -H·gradient, where H is known only through the last few
pairs s = step taken, y = change of the gradient, and costs a few sums to apply (two loops).
"""

from collections import deque
from collections.abc import Callable

from torch import Tensor

REMEMBERED = 8  # pairs
ENOUGH_GAIN = 1e-4  # of what the slope promises (Armijo)
SHORTEST = 1e-6

Look = Callable[[Tensor], tuple[float, Tensor]]
"""A place to its height and gradient."""


def descend(look: Look, place: Tensor, *, rounds: int, flat: float) -> Tensor:
    """Go down from ``place`` until the gradient has shrunk to the share ``flat``."""
    pairs: deque[tuple[Tensor, Tensor]] = deque(maxlen=REMEMBERED)
    height, gradient = look(place)
    steep = float(gradient.norm())
    for _ in range(rounds):
        if float(gradient.norm()) <= flat * steep:
            break
        direction = _direction(gradient, pairs)
        found = _line(look, place, height, gradient, direction, bold=not pairs)
        if found is None:
            break
        stepped, height, changed = found
        step, change = stepped - place, changed - gradient
        if float((step * change).sum()) > 0:
            pairs.append((step, change))
        place, gradient = stepped, changed
    return place


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


def _line(
    look: Look, place: Tensor, height: float, gradient: Tensor, direction: Tensor, *, bold: bool
) -> tuple[Tensor, float, Tensor] | None:
    """Halve the step until it gains; where nothing is known yet (``bold``), double it first."""
    slope, length = float((gradient * direction).sum()), 1.0
    found = place + direction, *look(place + direction)
    while bold and found[1] < height + ENOUGH_GAIN * length * slope:
        further = place + 2 * length * direction
        lower = further, *look(further)
        if lower[1] >= found[1]:
            return found
        found, length = lower, 2 * length
    while not found[1] <= height + ENOUGH_GAIN * length * slope:
        length /= 2
        if length < SHORTEST:
            return None
        nearer = place + length * direction
        found = nearer, *look(nearer)
    return found
