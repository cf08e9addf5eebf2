"""A curve on one line of text: ▇▅▄▃▂▂▁."""

import itertools
import math
from collections.abc import Iterable, Sequence

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | int], width: int = 24) -> str:
    """Draw one series; see :func:`sparklines`."""
    return sparklines([values], width)[0]


def sparklines(series: Iterable[Sequence[float | int]], width: int = 24) -> list[str]:
    """Draw series on one scale, from their minimum to their maximum; NaN and infinity are gaps.

    More values than ``width`` are averaged in groups, so a line never gets longer.
    """
    groups = [_groups([float(value) for value in values], width) for values in series]
    numbers = [value for values in groups for value in values if math.isfinite(value)]
    low = min(numbers, default=0.0)
    reach = max(numbers, default=0.0) - low
    return ["".join(_bar(value, low, reach) for value in values) for values in groups]


def _bar(value: float, low: float, reach: float) -> str:
    if not math.isfinite(value):
        return " "
    return _BARS[round((value - low) / reach * (len(_BARS) - 1))] if reach else _BARS[0]


def _groups(values: list[float], width: int) -> list[float]:
    if len(values) <= width:
        return values
    edges = [len(values) * place // width for place in range(width + 1)]
    return [
        _mean([one for one in values[start:stop] if math.isfinite(one)])
        for start, stop in itertools.pairwise(edges)
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan
