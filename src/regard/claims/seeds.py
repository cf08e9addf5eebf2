"""Several seeds: a difference counts only where it is larger than what a seed alone changes."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from regard.claims.claim import Figure, Number
from regard.claims.table import Setting
from regard.draw.chart import Line


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


def means(found: Mapping[Setting, Seeds]) -> dict[Setting, float]:
    """Give the mean of every setting."""
    return {setting: one.mean for setting, one in found.items()}


def spread(*found: Seeds) -> float:
    """Give the largest spread of several."""
    return max(one.spread for one in found)


def draw_range(name: str, xs: Sequence[Number], found: Sequence[Seeds]) -> Line:
    """Draw the means as a line, with the least and greatest seed round it."""
    lows, highs = ([pick(one.values) for one in found] for pick in (min, max))
    return Line(name, xs, [one.mean for one in found], lows, highs)


def compare(name: str, one: Seeds, other: Seeds) -> Figure:
    """Say by how much one lies above the other, and whether that counts."""
    return Figure(name, one.mean - other.mean, above(one, other))


def with_seeds(measure: Callable[[int], float], seeds: Sequence[int]) -> Seeds:
    """Measure once with each seed."""
    return Seeds(tuple(measure(seed) for seed in seeds))


def above(one: Seeds, other: Seeds) -> bool:
    """Say whether one lies above the other by more than the seeds of either differ."""
    return one.mean - other.mean > spread(one, other)
