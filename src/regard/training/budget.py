"""From a budget to a number of steps. A wall time is turned into steps by a short calibration.

The calibration takes real steps on a throw-away copy, on batches spread evenly over the lengths,
so that what it learns about speed leaves no trace in the run. The number it arrives at is written
into the run: repeated with that number, the run is the same to the bit.
"""

import time
from collections.abc import Callable

import numpy as np

from regard.recipe.budget import parse_budget

WARM, TIMED = 2, 24  # steps to warm up, steps to time


def steps_for(
    budget: str,
    *,
    steps_per_epoch: int,
    tokens_per_epoch: int,
    seconds_per_step: Callable[[], float],
) -> int:
    """How many steps a budget pays for; at least one."""
    kind, amount = parse_budget(budget)
    if kind == "steps":
        return max(1, int(amount))
    if kind == "epochs":
        return max(1, round(amount * steps_per_epoch))
    if kind == "tokens":
        return max(1, round(amount / tokens_per_epoch * steps_per_epoch))
    return max(1, int(amount / seconds_per_step()))


def calibrate(take: Callable[[int], object], *, steps_per_epoch: int) -> float:
    """Seconds per step, timed on steps spread over one epoch."""
    places = np.linspace(0, steps_per_epoch - 1, WARM + TIMED).astype(int)
    places = np.random.default_rng(0).permutation(places)
    for place in places[:WARM]:
        take(int(place))
    begin = time.perf_counter()
    for place in places[WARM:]:
        take(int(place))
    return (time.perf_counter() - begin) / TIMED
