"""Multiplications of attention, recurrence, convolution and windows (D0 Q2, D1, D2 f)."""

from functools import partial

import numpy as np
import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import (
    count_mixer,
    count_multiplications,
    fit_exponent,
    time_fastest,
)
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, tabulate
from regard.layers.attention import Attention, attend, scaled_dot, softmax
from regard.layers.convolution import Convolution
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import local
from regard.models.body import all_visible


@claim(
    numbers=(13,),
    source="D2 f; Vaswani et al. 2017, §3.2.3",
    statement="For a source of M, a target of N and width k: encoder self-attention costs M²k, "
    "cross-attention MNk, decoder self-attention N²k.",
    layer="layers/attention.py",
    meaning="An exponent of 2 is quadratic, of 1 linear. The projections, (M+N)k², are additional.",
    next_step="`regard account RECIPE` splits the cost of a whole translator by part.",
)
@exact()
def cost_of_three_attentions() -> Measurement:
    """Count encoder self-, cross- and decoder self-attention without the projections.

    Sources of M = 32 to 256 and targets of N = 32 to 256, width 32; exponents are slopes on log
    axes, the other length fixed at 64.
    """
    width, sizes = 32, (32, 64, 128, 256)
    layer = Attention(width, 2)

    def count(queries: int, keys: int) -> int:
        y, x = torch.randn(1, queries, width), torch.randn(1, keys, width)
        return count_mixer(layer, y, x) - 2 * (queries + keys) * width**2

    own = [count(n, n) for n in sizes]
    by_source, by_target = [count(64, n) for n in sizes], [count(n, 64) for n in sizes]
    square, source, target = (fit_exponent(sizes, one) for one in (own, by_source, by_target))
    exactly = own[0] == 2 * sizes[0] ** 2 * width and by_source[0] == 2 * 64 * sizes[0] * width
    return Measurement(
        f"exponents: self {square:.2f}, cross {source:.2f} in M and {target:.2f} in N",
        (
            Figure("exponent of self-attention in its length", square, abs(square - 2) < 0.01),
            Figure("exponent of cross-attention in M", source, abs(source - 1) < 0.01),
            Figure("exponent of cross-attention in N", target, abs(target - 1) < 0.01),
            Figure("whether 2M²k and 2MNk to the digit", int(exactly), exactly),
        ),
        draw_curves(
            "Multiplications, log₂",
            "log₂ of the length",
            np.log2(sizes).tolist(),
            {
                "self-attention": np.log2(own).tolist(),
                "cross-attention": np.log2(by_source).tolist(),
            },
        ),
    )


@claim(
    numbers=(14,),
    source="D1 Q2; Vaswani et al. 2017, §4, table 1",
    statement="Restricted to a window of r, self-attention costs r·n·d.",
    layer="layers/visibility.py",
    meaning="Computed block by block the cost grows linearly and the result equals the band mask. "
    "The layer's own window is a mask over dense scores: it gives the same result and saves "
    "nothing.",
    next_step="See path-length: with a window information travels r positions per layer.",
)
@exact()
def window_is_linear() -> Measurement:
    """Attend within a window of r = 8 either way, block by block of 8 queries.

    Each block attends to the keys in its reach; the result is compared with dense attention under
    the band mask, and multiplications are counted for n = 64 to 512.
    """
    window, features, sizes = 8, 16, (64, 128, 256, 512)
    gap, costs = 0.0, []
    for n in sizes:
        heads = [torch.randn(1, 1, n, features) for _ in range(3)]
        costs.append(count_multiplications(partial(_attend_by_blocks, heads, window)))
        visible = local(n, n, window)
        dense = attend(*heads, score=scaled_dot, select=softmax, visible=visible).mixed
        gap = max(gap, difference(_attend_by_blocks(heads, window), dense))
    exponent = fit_exponent(sizes, costs)
    return Measurement(
        f"block by block equals the band mask to {gap:.0e}; the cost grows as n^{exponent:.2f}",
        (
            Figure("difference from the band mask", gap, gap < 1e-12),
            Figure("exponent of the cost in n", exponent, abs(exponent - 1) < 0.06),
            Figure("multiplications at n = 512", costs[-1]),
            Figure("dense at n = 512", 2 * 512**2 * features),
        ),
        draw_curves(
            "Multiplications with a window of 8, log₂",
            "log₂ of n",
            np.log2(sizes).tolist(),
            {
                "by blocks": np.log2(costs).tolist(),
                "dense": [float(np.log2(2 * n * n * features)) for n in sizes],
            },
        ),
    )


def _attend_by_blocks(heads: list[Tensor], window: int) -> Tensor:
    """Attend with ``window`` queries at a time to the three blocks of keys in reach."""
    query, key, value = heads
    n, mixed = query.shape[2], []
    for start in range(0, n, window):
        low, high = max(0, start - window), min(n, start + 2 * window)
        visible = local(n, n, window)[:, :, start : start + window, low:high]
        parts = (query[:, :, start : start + window], key[:, :, low:high], value[:, :, low:high])
        mixed.append(attend(*parts, score=scaled_dot, select=softmax, visible=visible).mixed)
    return torch.cat(mixed, dim=2)


@claim(
    numbers=(15,),
    source="D0 Q2, D1 Q2; Vaswani et al. 2017, table 1",
    statement="Per layer: self-attention n²d, recurrence nd², convolution k·n·d².",
    layer="layers/recurrent.py",
    meaning="Exact counts, including the constants that O() omits: four gates make an LSTM's 8nd².",
    next_step="Compare with n and d of your own text: attention is cheaper while n < 2d.",
    correction="D0's “O(n = kd)” and “nk+1” are slips for nkd per filter and n - k + 1 windows, "
    "times d filters.",
)
@exact()
def cost_per_layer() -> Measurement:
    """Count one pass of each layer over n = 96 positions of width d = 32, in float64.

    In float64 torch's counter sees the matrix products of the LSTM and the GRU step by step. The
    convolution is counted without padding, which has n - k + 1 windows.
    """
    n, d, kernel = 96, 32, 3
    states = torch.randn(1, n, d)
    convolve = Convolution(d, kernel=kernel, causal=True).convolve
    found = {
        "self-attention, 2n²d + 4nd²": count_mixer(Attention(d, 2), states),
        "LSTM, 8nd²": count_mixer(Recurrent(d, cell="lstm", causal=True), states),
        "GRU, 6nd²": count_mixer(Recurrent(d, cell="gru", causal=True), states),
        "convolution, (n-k+1)kd²": count_multiplications(partial(convolve, states.transpose(1, 2))),
    }
    wanted = {
        "self-attention, 2n²d + 4nd²": 2 * n * n * d + 4 * n * d * d,
        "LSTM, 8nd²": 8 * n * d * d,
        "GRU, 6nd²": 6 * n * d * d,
        "convolution, (n-k+1)kd²": (n - kernel + 1) * kernel * d * d,
    }
    attention, lstm, gru, convolution = found.values()
    return Measurement(
        f"attention {attention:,}, LSTM {lstm:,}, GRU {gru:,}, convolution {convolution:,}",
        tabulate("{}", found, equal=wanted),
    )


@claim(
    numbers=(16,),
    source="D1 Q2; Vaswani et al. 2017, §4",
    statement="Self-attention is faster than recurrence when the text is shorter than the width.",
    layer="layers/attention.py",
    meaning="Below 1 attention is cheaper. With projections and an LSTM's four gates the two are "
    "equal at n = 2d. In time, recurrence falls further behind, as its steps are sequential.",
    next_step="Measure your own width; on a GPU the crossover comes much later.",
)
def faster_when_n_below_d() -> Measurement:
    """Count self-attention over an LSTM at n = d and n = 2d for d = 32 to 128; time both at d = 64.

    Times are the best of three passes, between n = 32 and 1,024, and only reported.
    """
    with exact():
        ratios = {(d, n): _compare_counts(d, n) for d in (32, 64, 128) for n in (d, 2 * d)}
    sizes = (32, 64, 128, 256, 512, 1024)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        timed = [_compare_times(64, n) for n in sizes]
    cheaper = {(d, n): ratio < 1 for (d, n), ratio in ratios.items() if n == d}
    same = {(d, n): 1.0 for d, n in ratios if n == 2 * d}
    return Measurement(
        f"{ratios[64, 64]:.2f} of an LSTM's multiplications at n = d, equal at n = 2d; by the "
        f"clock at d 64 {timed[1]:.1f} at n 64 and {timed[-1]:.1f} at n 1,024",
        (
            *tabulate("multiplications over the LSTM's, d {}, n {}", ratios, cheaper, given=same),
            Figure("time over the LSTM's at d 64, n 64 (varies)", timed[1]),
            Figure("time over the LSTM's at d 64, n 1024 (varies)", timed[-1]),
        ),
        draw_curves(
            "Self-attention over LSTM, width 64",
            "log₂ of n",
            np.log2(sizes).tolist(),
            {"time": timed, "multiplications": [(n + 128) / 256 for n in sizes]},
        ),
    )


def _compare_counts(width: int, n: int) -> float:
    states = torch.randn(1, n, width)
    recurrent = Recurrent(width, cell="lstm", causal=True)
    return count_mixer(Attention(width, 4), states) / count_mixer(recurrent, states)


def _compare_times(width: int, n: int) -> float:
    states, seen = torch.randn(1, n, width), all_visible(n)
    layers = (Attention(width, 4), Recurrent(width, cell="lstm", causal=True))
    first, second = (time_fastest(partial(layer, states, visible=seen), 3) for layer in layers)
    return first / second
