"""Costs of attention, recurrent and convolutional layers compared.

    layer                  multiply-adds                sequential   longest path
    self-attention         2·n²·d + 4·n·d²              1            1
    restricted to r        2·r·n·d + 4·n·d²             1            ⌈(n - 1) / ⌊r/2⌋⌉
    recurrent (tanh)       2·n·d²                       n            n
    GRU, LSTM              6·n·d², 8·n·d²               n            n
    convolution of k       (n - k + 1)·k·d²             1            ⌈(n - 1) / (k - 1)⌉
    the same, dilated      the same                     1            ⌈log_k n⌉

(Vaswani et al. 2017, table 1, with its constants written out.) 4·n·d² are the projections of
attention; r is the number of positions in the window. A path is the number of layers, or of steps,
until the first position can influence the last.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from regard.errors import UsageError


class Size(NamedTuple):
    """The sizes to compare layers at."""

    length: int
    width: int
    kernel: int = 3
    window: int = 32
    """Positions in the window of restricted attention."""


class LayerCost(NamedTuple):
    """The cost of one layer for one text."""

    name: str
    order: str
    """As in the paper."""
    macs: int
    parameters: int
    sequential: int
    """Sequential steps."""
    path: int
    """Longest path, in layers or steps."""


def compare_layers(size: Size) -> list[LayerCost]:
    """Return the cost of one layer of each kind."""
    _refuse(size)
    n, d, k, r = size
    path = -(-(n - 1) // (min(r, n) // 2)) if n > 1 else 0
    near, far = -(-(n - 1) // (k - 1)), _layers_to_reach(n, k)
    return [
        LayerCost("self-attention", "n²·d", _attention(size), 4 * d * d, 1, 1),
        LayerCost(
            "restricted attention", "r·n·d", _count_restricted(size), 4 * d * d, 1, max(1, path)
        ),
        LayerCost("recurrent (tanh)", "n·d²", 2 * n * d * d, 2 * d * d + 2 * d, n, n),
        LayerCost("GRU", "n·d²", 6 * n * d * d, 6 * d * d + 6 * d, n, n),
        LayerCost("LSTM", "n·d²", _lstm(size), 8 * d * d + 8 * d, n, n),
        LayerCost("convolution", "k·n·d²", _convolution(size), k * d * d + d, 1, max(1, near)),
        LayerCost("dilated convolution", "k·n·d²", _convolution(size), k * d * d + d, 1, far),
    ]


def crossovers(size: Size) -> dict[str, float | None]:
    """Return the lengths up to which self-attention costs less than another layer; None for never.

    With its projections, 2·n²·d + 4·n·d² = 8·n·d² at n = 2·d: the LSTM. Attention without its
    projections equals a tanh recurrence at n = d, which is the "n < d" of textbooks.
    """
    _, d, k, _ = size
    reach = (k - 4) * d
    under = reach * reach - 8 * k * (k - 1) * d
    return {
        "LSTM": 2.0 * d,
        "GRU": 1.0 * d,
        "recurrent (tanh), projections left out": 1.0 * d,
        "LSTM, projections left out": 4.0 * d,
        "recurrent (tanh)": None,
        "convolution": (reach + math.sqrt(under)) / 4 if reach > 0 and under >= 0 else None,
    }


def curves(size: Size, lengths: list[int]) -> dict[str, list[int]]:
    """Return the multiply-adds of every layer at each length."""
    found: dict[str, list[int]] = {}
    for length in lengths:
        for cost in compare_layers(size._replace(length=length)):
            found.setdefault(cost.name, []).append(cost.macs)
    return found


def _attention(size: Size) -> int:
    n, d, _, _ = size
    return 2 * n * n * d + 4 * n * d * d


def _count_restricted(size: Size) -> int:
    n, d, _, r = size
    return 2 * min(r, n) * n * d + 4 * n * d * d


def _lstm(size: Size) -> int:
    return 8 * size.length * size.width**2


def _convolution(size: Size) -> int:
    n, d, k, _ = size
    return max(0, n - k + 1) * k * d * d


def _layers_to_reach(length: int, kernel: int) -> int:
    """Return ⌈log_k n⌉ in integer arithmetic."""
    layers, field = 1, kernel
    while field < length:
        layers, field = layers + 1, field * kernel
    return layers


def _refuse(size: Size) -> None:
    least: dict[str, tuple[int, Callable[[], int]]] = {
        "length": (1, lambda: size.length),
        "width": (1, lambda: size.width),
        "kernel": (2, lambda: size.kernel),
        "window": (2, lambda: size.window),
    }
    for name, (low, value) in least.items():
        if value() < low:
            raise UsageError(
                f"--{name} must be at least {low}. Got {value()}.",
                f"Raise --{name}.",
            )
