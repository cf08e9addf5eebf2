"""What mixers cost as the text grows, and where the curves cross (D0 Q2, D1 Q2)."""

from regard.account.layers import Size, compare_layers, crossovers
from regard.mechanisms.mechanism import (
    Attempt,
    Chart,
    Line,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
)

POINTS = 40
SHORTEST = 8


def _compute(width: int, kernel: int, window: int, longest: int, log: bool) -> list[Panel]:
    lengths = sorted(
        {SHORTEST + round((longest - SHORTEST) * n / POINTS) for n in range(POINTS + 1)}
    )
    costs = [compare_layers(Size(length, width, kernel, window)) for length in lengths]
    lines = [
        Line(
            name, [float(length) for length in lengths], [cost[place].macs / 1e6 for cost in costs]
        )
        for place, name in enumerate(layer.name for layer in costs[0])
        if name not in ("recurrent (tanh)", "dilated convolution")
    ]
    crossed = crossovers(Size(longest, width, kernel, window))
    rows = [
        [name, "never" if length is None else f"{length:,.0f} = {length / width:g}·d"]
        for name, length in crossed.items()
    ]
    layers = [
        [
            layer.name,
            layer.order,
            f"{layer.macs:,}",
            f"{layer.parameters:,}",
            f"{layer.sequential:,}",
            f"{layer.path:,}",
        ]
        for layer in costs[-1]
    ]
    heads = ["layer", "order", "multiply-adds", "parameters", "sequential steps", "longest path"]
    return [
        Chart(
            f"Million multiply-adds per layer, d = {width}",
            "tokens n",
            lines,
            "By formula, projections included; regard account compares formulas with measurements.",
            log,
        ),
        Table("Self-attention costs less than …", ["than", "up to n"], rows),
        Table(f"At n = {longest:,}", heads, layers),
    ]


COST = Mechanism(
    _compute,
    name="cost",
    title="Cost against length",
    source="D0 Q2, D1 Q2; Vaswani et al. 2017, table 1",
    equation="self-attention 2n²d + 4nd²    LSTM 8nd²    convolution k·n·d²    window 2rnd + 4nd²",
    text=(
        "Self-attention compares every token with every other: its cost grows with the square of "
        "the length. A recurrent layer multiplies each state by square matrices: its cost grows "
        "with the length, and with the square of the width. Which is cheaper depends on n and d.",
        "The number of sequential steps says what cannot be computed in parallel; the longest path "
        "says through how many layers or steps the first token influences the last.",
    ),
    controls=(
        Slider("width", "Width d", 256, 32, 1024, 32),
        Slider("longest", "Longest text n", 1024, 64, 8192, 64),
        Slider("kernel", "Kernel k of the convolution", 3, 2, 15),
        Slider("window", "Window r of restricted attention", 32, 2, 256, 2),
        Switch("log", "Logarithmic"),
    ),
    attempts=(
        Attempt("Find the crossover with the LSTM: n = 2d, not n = d."),
        Attempt("Halve the width: the crossover halves.", {"width": "128"}),
        Attempt("A long text: only the window stays linear.", {"longest": "8192", "log": "on"}),
    ),
    claims=("cost-per-layer", "faster-when-n-below-d", "window-is-linear", "path-length"),
    layer="account/layers.py",
)
