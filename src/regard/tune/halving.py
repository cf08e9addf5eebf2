"""Successive halving (Jamieson and Talwalkar 2016) with a budget counted in training steps.

    length of a trial on rung k of n      R / 3^(n - 1 - k)
    rung k + 1                            the best third of rung k
    share of the last rung                max(B/n, 3·R); the others divide the rest

B is the number of steps that all trials take together and R that of a finalist, both in steps of
the recipe itself; a trial whose step costs twice as much pays twice. There are three rungs, or two
where the first of three would be too short to tell trials apart. Every trial is trained from
scratch with its whole schedule, so that annealed runs are compared. Trial 0, the recipe itself, is
never dropped: the gain is measured against it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

ETA = 3
FINALISTS = 3  # as costly as the recipe, that the last rung holds at least
LEAST = 2  # trials, besides the recipe, that a rung keeps
TELLING = 25  # steps, from which on scores tell trials apart
SHORTEST = 9  # steps of a finalist, unless the recipe's own budget is less


class Plan(NamedTuple):
    """What a search may spend, in steps of the recipe itself."""

    steps: int
    """Of all trials together."""
    longest: int
    """Of a finalist."""
    trials: int | None = None
    """Most trials of the first rung; None for as many as the steps hold."""

    @property
    def rungs(self) -> int:
        """The number of rungs; 1 where a trial has one or two steps."""
        if self.longest < ETA:
            return 1
        return 3 if self.longest >= ETA**2 * TELLING else 2

    @property
    def last(self) -> int:
        """The number of the last rung."""
        return self.rungs - 1

    def length(self, rung: int) -> float:
        """Return the length of a trial on a rung."""
        return self.longest / ETA ** (self.last - rung)

    def share(self, rung: int) -> float:
        """Return what all trials of a rung may cost together."""
        last = max(self.steps / self.rungs, float(FINALISTS * self.longest))
        return last if rung == self.last else (self.steps - last) / self.last

    @property
    def trainings(self) -> float:
        """The expected number of trainings on all rungs."""
        first = min(self.trials or math.inf, self.share(0) / self.length(0))
        return first + first / ETA + FINALISTS

    @property
    def dearest(self) -> float:
        """The cost of a trial, relative to the recipe, beyond which it could be no finalist."""
        return (self.share(self.last) - self.longest) / self.longest


def make_plan(steps: int, own: int, trials: int | None = None) -> Plan | None:
    """Plan a search; finalists train as long as the recipe itself would, or as the steps allow.

    None if there are too few steps to compare anything.
    """
    longest = min(own, steps // (2 * FINALISTS))
    return Plan(steps, longest, trials) if longest >= min(own, SHORTEST) and longest else None


def admit(plan: Plan, costs: Iterable[tuple[int, float]]) -> list[int]:
    """Take trials for the first rung in their order, until its share is spent."""
    admitted: list[int] = []
    left = plan.share(0)
    for number, cost in costs:
        left -= cost * plan.length(0)
        if left < 0 and admitted:
            break
        admitted.append(number)
        if plan.trials is not None and len(admitted) >= plan.trials:
            break
    return admitted


def promote(
    plan: Plan, rung: int, ranked: Sequence[int], costs: Mapping[int, float]
) -> tuple[list[int], list[int]]:
    """Choose from the trials of the rung before, best first: those kept, those too costly."""
    best = ranked[: max(LEAST, math.ceil(len(ranked) / ETA))]
    wanted = sorted({*best, 0} & {*ranked}, key=lambda n: (n != 0, ranked.index(n)))
    kept: list[int] = []
    left = plan.share(rung)
    for number in wanted:
        cost = costs[number] * plan.length(rung)
        if cost <= left:
            kept.append(number)
            left -= cost
    return sorted(kept), [number for number in wanted if number not in kept]
