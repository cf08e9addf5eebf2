"""Several seeds: a difference counts only where it is larger than what a seed alone changes."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import NamedTuple


class Seeds(NamedTuple):
    """What one setting came to with each of several seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return mean(self.values)

    @property
    def spread(self) -> float:
        """How far the highest seed lies above the lowest."""
        return max(self.values) - min(self.values)


def with_seeds(measure: Callable[[int], float], seeds: Sequence[int]) -> Seeds:
    """Measure once with each seed."""
    return Seeds(tuple(measure(seed) for seed in seeds))


def above(one: Seeds, other: Seeds) -> bool:
    """Say whether one lies above the other by more than the seeds of either differ."""
    return one.mean - other.mean > max(one.spread, other.spread)
