"""Repetition with several seeds: a difference counts only if it exceeds the spread of the seeds."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from regard.claims.claim import Figure, Number
from regard.claims.table import Setting
from regard.draw.chart import Curve


class Seeds(NamedTuple):
    """The results of one setting, one per seed."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return mean(self.values)

    @property
    def spread(self) -> float:
        """The range: maximum minus minimum."""
        return max(self.values) - min(self.values)


def average_seeds(found: Mapping[Setting, Seeds]) -> dict[Setting, float]:
    """Average every setting over its seeds."""
    return {setting: one.mean for setting, one in found.items()}


def largest_spread(*found: Seeds) -> float:
    """Give the largest spread of several settings."""
    return max(one.spread for one in found)


def draw_range(name: str, xs: Sequence[Number], found: Sequence[Seeds]) -> Curve:
    """Plot means as a line, with a band from the lowest to the highest seed."""
    lows, highs = ([pick(one.values) for one in found] for pick in (min, max))
    return Curve(name, xs, [one.mean for one in found], lows, highs)


def compare(name: str, one: Seeds, other: Seeds) -> Figure:
    """Give the difference of two means; it supports the claim if it exceeds the spread."""
    return Figure(name, one.mean - other.mean, exceeds(one, other))


def repeat_with_seeds(measure: Callable[[int], float], seeds: Sequence[int]) -> Seeds:
    """Measure once per seed."""
    return Seeds(tuple(measure(seed) for seed in seeds))


def exceeds(one: Seeds, other: Seeds) -> bool:
    """Tell whether one mean is above the other by more than the spread of either."""
    return one.mean - other.mean > largest_spread(one, other)
