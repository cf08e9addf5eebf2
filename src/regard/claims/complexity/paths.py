"""How far information travels per layer, and what must wait for what (D1 Q2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.claims.claim import Measured, claim
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
    statement="Between any two positions lie: with self-attention 1 layer, with convolution "
    "log_k(n) dilated or n/k contiguous, with a window n/r, with recurrence n steps.",
    layer="layers/convolution.py",
    reading="The smallest number of layers through which the last position feels the first. "
    "Recurrence needs one layer, and the n - 1 steps inside it: see sequential-operations.",
    then="Double n: the dilated convolution needs at most one layer more, the others double.",
)
@exact()
def path_length() -> Measured:
    """Stack layers until the last of 27 positions feels the first: the Jacobian is not zero.

    Convolutions have kernel 3 and look back only; the dilated one skips 3^l places in layer l; the
    window reaches 2 places either way.
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
    found = {name: _layers_needed(make) for name, make in makes.items()}
    return Measured(
        ", ".join(f"{name.split(' (')[0]} {layers}" for name, layers in found.items()),
        tabulate("layers needed, {}", found, equal=wanted),
    )


def _layers_needed(make: Callable[[int], nn.Module]) -> int:
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
    statement="Recurrence needs n operations one after another; attention and convolution a "
    "constant number.",
    layer="layers/recurrent.py",
    reading="0 means that a longer text makes no chain longer: all positions can be computed at "
    "once. While writing word by word attention waits as well: see `regard predict`.",
    then="Time both at batch 1 on a machine with many cores.",
)
@exact()
def sequential_operations() -> Measured:
    """Take one pass over n = 8 to 64 positions and measure the longest chain in autograd's graph.

    A chain is a series of operations of which each needs the one before.
    """
    sizes = (8, 16, 32, 64)
    layers = {
        "self-attention": Attention(WIDTH, 1),
        "recurrent": Recurrent(WIDTH, causal=True),
        "convolution": Convolution(WIDTH, kernel=KERNEL, causal=True),
    }
    chains = {
        name: [_chain(layer(torch.randn(1, n, WIDTH), visible=all_visible(n))) for n in sizes]
        for name, layer in layers.items()
    }
    growth = {name: (one[-1] - one[0]) / (sizes[-1] - sizes[0]) for name, one in chains.items()}
    wait = {name: one >= 1 if name == "recurrent" else one == 0 for name, one in growth.items()}
    return Measured(
        f"operations that must wait, per position: {list_values('{} {:.2g}', growth)}",
        tabulate("longer chain per position, {}", growth, wait),
        draw_curves("Longest chain of operations", "positions", sizes, chains),
    )


def _chain(result: Tensor) -> int:
    """Give the length of the longest way through the graph behind a result."""
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
