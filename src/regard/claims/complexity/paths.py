"""Path lengths per layer and sequential operations (D1 Q2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.claims.claim import Measurement, claim
from regard.claims.precision import exact, find_dependencies
from regard.claims.table import draw_curves, list_values, tabulate
from regard.layers.attention import Attention
from regard.layers.convolution import Convolution
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import within
from regard.models.body import all_visible

N, WIDTH, KERNEL, WINDOW = 27, 4, 3, 2


@claim(
    numbers=(15, 17),
    source="D0 Q2, D1 Q2; Vaswani et al. 2017, table 1",
    statement="The path between any two positions has length 1 with self-attention, log_k(n) with "
    "dilated and n/k with contiguous convolution, n/r with a window, n with recurrence.",
    layer="layers/convolution.py",
    meaning="The smallest number of layers through which the last position depends on the first. "
    "Recurrence needs one layer, and n - 1 steps inside it: see sequential-operations.",
    next_step="Double n: the dilated convolution needs at most one more layer, the others twice "
    "as many.",
)
@exact()
def path_length() -> Measurement:
    """Stack layers until the last of 27 positions depends on the first: a nonzero Jacobian.

    Convolutions have kernel 3 and are causal; the dilated one has dilation 3^l in layer l; the
    window reaches 2 positions either way.
    """
    makes: dict[str, Callable[[int], nn.Module]] = {
        "self-attention": lambda _: Attention(WIDTH, 1),
        "recurrent (within one layer)": lambda _: Recurrent(WIDTH, causal=True),
        "convolution, dilated": lambda layer: Convolution(
            WIDTH, kernel=KERNEL, dilation=KERNEL**layer, causal=True
        ),
        "convolution, contiguous": lambda _: Convolution(WIDTH, kernel=KERNEL, causal=True),
        "window": lambda _: Attention(WIDTH, 1, rule=within(WINDOW)),
    }
    wanted = {
        "self-attention": 1,
        "recurrent (within one layer)": 1,
        "convolution, dilated": math.ceil(math.log(N, KERNEL) - 1e-9),
        "convolution, contiguous": math.ceil((N - 1) / (KERNEL - 1)),
        "window": math.ceil((N - 1) / WINDOW),
    }
    found = {name: _count_layers(make) for name, make in makes.items()}
    return Measurement(
        ", ".join(f"{name.split(' (')[0]} {layers}" for name, layers in found.items()),
        tabulate("layers needed, {}", found, equal=wanted),
    )


def _count_layers(make: Callable[[int], nn.Module]) -> int:
    layers: list[nn.Module] = []
    while True:
        layers.append(make(len(layers)))
        states = torch.randn(1, N, WIDTH, requires_grad=True)
        reached: Tensor = states
        for layer in layers:
            reached = layer(reached, visible=all_visible(N))
        if 0 in find_dependencies(reached[0, -1].sum(), states):
            return len(layers)


@claim(
    numbers=(15, 18),
    source="D0 Q2, D1 Q2; Vaswani et al. 2017, table 1",
    statement="Recurrence needs n sequential operations; attention and convolution a constant "
    "number.",
    layer="layers/recurrent.py",
    meaning="0 means that a longer text has no longer chain: all positions can be computed in "
    "parallel. Autoregressive decoding is sequential with attention as well: see `regard "
    "predict`.",
    next_step="Time both at batch size 1 on a machine with many cores.",
)
@exact()
def sequential_operations() -> Measurement:
    """Take one pass over n = 8 to 64 positions and measure the longest chain in autograd's graph.

    A chain is a series of operations each of which needs the previous one.
    """
    sizes = (8, 16, 32, 64)
    layers = {
        "self-attention": Attention(WIDTH, 1),
        "recurrent": Recurrent(WIDTH, causal=True),
        "convolution": Convolution(WIDTH, kernel=KERNEL, causal=True),
    }
    chains = {
        name: [
            _measure_chain(layer(torch.randn(1, n, WIDTH), visible=all_visible(n))) for n in sizes
        ]
        for name, layer in layers.items()
    }
    growth = {name: (one[-1] - one[0]) / (sizes[-1] - sizes[0]) for name, one in chains.items()}
    expected = {name: one >= 1 if name == "recurrent" else one == 0 for name, one in growth.items()}
    return Measurement(
        f"sequential operations per position: {list_values('{} {:.2g}', growth)}",
        tabulate("chain growth per position, {}", growth, expected),
        draw_curves("Longest chain of operations", "positions", sizes, chains),
    )


def _measure_chain(result: Tensor) -> int:
    """Give the length of the longest path in the graph of a result."""
    depths: dict[object, int] = {}
    waiting = [result.grad_fn]
    while waiting:
        node = waiting[-1]
        assert node is not None
        before = [other for other, _ in node.next_functions if other is not None]
        unknown = [other for other in before if other not in depths]
        if unknown:
            waiting += unknown
            continue
        depths[node] = 1 + max((depths[other] for other in before), default=0)
        waiting.pop()
    return max(depths.values())
