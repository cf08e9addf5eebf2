"""Cost of a computation: multiplications by torch's counter, wall-clock seconds, parameters."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from regard.layers.attention import Attention
from regard.layers.tap import listen
from regard.models.body import all_visible


def count_multiplications(run: Callable[[], object]) -> int:
    """Count the multiply-accumulates of a call."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


def count_mixer(mixer: nn.Module, states: Tensor, context: Tensor | None = None) -> int:
    """Count the multiply-accumulates of one pass of a mixer, attention without the fused kernel."""
    inputs = (states,) if context is None else (states, context)
    seen = all_visible(inputs[-1].shape[1])
    if not isinstance(mixer, Attention):
        return count_multiplications(lambda: mixer(*inputs, visible=seen))
    with listen(mixer, "weights"):
        return count_multiplications(lambda: mixer(*inputs, visible=seen))


def time_fastest(run: Callable[[], object], times: int) -> float:
    """Give the seconds of the fastest of several calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def fit_exponent(sizes: Sequence[int], costs: Sequence[float | int]) -> float:
    """Fit the exponent of a power law: the slope on log axes."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def count_parameters(*parts: nn.Module) -> int:
    """Count parameters; those shared inside a part count once."""
    return sum(parameter.numel() for part in parts for parameter in part.parameters())
