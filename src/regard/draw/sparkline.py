"""A curve on one line of text: ▇▅▄▃▂▂▁."""

import itertools
import math
from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | int], width: int = 24) -> str:
    """Draw values as bars between their least and greatest; a gap where a value is no number.

    More values than ``width`` are averaged in groups, so the line never gets longer.
    """
    groups = _groups([float(value) for value in values], width)
    numbers = [value for value in groups if math.isfinite(value)]
    if not numbers:
        return " " * len(groups)
    low, reach = min(numbers), max(numbers) - min(numbers)
    return "".join(_bar(value, low, reach) for value in groups)


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
