"""From a budget to a number of steps; a wall time is converted by timing a few steps.

The timed steps are real ones of a throw-away model, on batches spread over all lengths, so that
timing leaves no trace in the run. The resulting number of steps is written into the run: repeated
with that number, the run is the same to the bit.
"""

import time
from collections.abc import Callable

import numpy as np

from regard.recipe.budget import parse_budget

WARMUP, TIMED = 2, 24  # steps
SHARE = 0.1  # of the budget, that timing may take


def steps_for(
    budget: str,
    *,
    steps_per_epoch: int,
    tokens_per_epoch: int,
    seconds_per_step: Callable[[float], float],
) -> int:
    """Return the number of steps in a budget; at least one.

    ``seconds_per_step`` is given the seconds that timing may take.
    """
    kind, amount = parse_budget(budget)
    if kind == "steps":
        return max(1, int(amount))
    if kind == "epochs":
        return max(1, round(amount * steps_per_epoch))
    if kind == "tokens":
        return max(1, round(amount / tokens_per_epoch * steps_per_epoch))
    return max(1, int(amount / seconds_per_step(SHARE * amount)))


def calibrate(take: Callable[[int], object], *, steps_per_epoch: int, seconds: float) -> float:
    """Time steps spread over one epoch, for about ``seconds``; return seconds per step."""
    steps = np.linspace(0, steps_per_epoch - 1, WARMUP + TIMED).astype(int)
    steps = np.random.default_rng(0).permutation(steps)
    limit = time.perf_counter() + seconds
    for step in steps[:WARMUP]:
        take(int(step))
        if time.perf_counter() > limit:
            break
    begin = now = time.perf_counter()
    taken = 0
    while taken < TIMED and (not taken or now < limit):
        take(int(steps[WARMUP + taken]))
        taken, now = taken + 1, time.perf_counter()
    return (now - begin) / taken
