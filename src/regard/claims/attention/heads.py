"""Multi-head attention: cost and equivalence (D0 Q2, Q3; D2 d)."""

from functools import partial

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_mixer, count_parameters, time_fastest
from regard.claims.precision import difference, exact
from regard.draw.bars import Bars
from regard.layers.attention import Attention, attend, scaled_dot, softmax
from regard.layers.tap import listen
from regard.models.body import all_visible

POSITIONS, WIDTH = 96, 64
HEADS = (1, 2, 4, 8, 16)


@claim(
    numbers=(5,),
    source="D0 Q2; Vaswani et al. 2017, §4",
    statement="Scores cost n²d, the softmax n² and the values n²d.",
    layer="layers/attention.py",
    meaning="2n²d multiplications are exactly those of QKᵀ and of the weights times the values. "
    "The document leaves out the projections, 4nd², which are larger while n < 2d.",
    next_step="Profile a whole model: `regard account`.",
)
@exact()
def cost_of_attention() -> Measurement:
    """Count the multiply-accumulates of one layer with torch's counter, without the fused kernel.

    96 positions of width 64; the softmax is counted as n² exponentials.
    """
    found = count_mixer(Attention(WIDTH, 4), torch.randn(1, POSITIONS, WIDTH))
    projections = 4 * POSITIONS * WIDTH**2
    products = found - projections
    wanted = 2 * POSITIONS**2 * WIDTH
    return Measurement(
        f"{products:,} = 2n²d for scores and values, and {projections:,} = 4nd² for projections",
        (
            Figure("multiply-accumulates in all", found, given=wanted + projections),
            Figure("of scores and values", products, products == wanted, given=wanted),
            Figure("of the four projections", projections),
            Figure("exponentials per head", POSITIONS**2),
        ),
    )


@claim(
    numbers=(6,),
    source="D0 Q3, D2 d; Vaswani et al. 2017, §3.2.2",
    statement="With d/h features per head, h heads have the parameters and the cost of one.",
    layer="layers/attention.py",
    meaning="One different count means that all five agree. With one head the layer is plain "
    "attention, up to rounding.",
    next_step="See what each head attends to: `regard explain RUN TEXT --output page.html`.",
)
@exact()
def heads_at_equal_cost() -> Measurement:
    """Build the layer with 1 to 16 heads at one width, count parameters and multiplications.

    With one head the output is also compared with attend() on the layer's own projections.
    """
    states = torch.randn(1, POSITIONS, WIDTH)
    layers = {heads: Attention(WIDTH, heads) for heads in HEADS}
    counts = {heads: count_parameters(layer) for heads, layer in layers.items()}
    costs = {heads: count_mixer(layer, states) for heads, layer in layers.items()}
    sizes, works = len(set(counts.values())), len(set(costs.values()))
    one = layers[1]
    parts = [to(states)[:, None] for to in (one.to_query, one.to_key, one.to_value)]
    seen = all_visible(POSITIONS)
    plain = attend(*parts, score=scaled_dot, select=softmax, visible=seen).mixed[:, 0]
    gap = difference(one.to_output(plain), one(states, visible=seen))
    return Measurement(
        f"{counts[1]:,} parameters and {costs[1]:,} multiplications with 1 to 16 heads",
        (
            Figure("different parameter counts", sizes, sizes == 1),
            Figure("different multiplication counts", works, works == 1),
            Figure("one head against plain attention", gap, gap < 1e-12),
        ),
        Bars("Multiply-accumulates by heads", [(f"{h} heads", cost) for h, cost in costs.items()]),
    )


@claim(
    numbers=(7,),
    source="D0 Q3; Vaswani et al. 2017, §3.2.2",
    statement="Several heads are cheaper than one large head.",
    layer="layers/attention.py",
    meaning="1 means the same number of multiplications. The exponentials of the softmax grow "
    "with the number of heads, so the time does not fall.",
    next_step="Raise the positions to 1,024 and watch the softmax's share of the time.",
    correction="Equal in multiplications and parameters; the softmax's work is h times as large.",
)
@exact()
def many_heads_cheaper() -> Measurement:
    """Compare 8 heads with one head of the same width: multiplications, exponentials, time.

    The time is the best of seven passes by the equation and is only reported.
    """
    states, seen = torch.randn(1, POSITIONS, WIDTH), all_visible(POSITIONS)
    costs, exponentials, seconds = {}, {}, {}
    for heads in HEADS:
        layer = Attention(WIDTH, heads)
        costs[heads] = count_mixer(layer, states)
        with listen(layer, "weights") as recorded:
            layer(states, visible=seen)
            exponentials[heads] = recorded["weights"][0].numel()
            seconds[heads] = time_fastest(partial(layer, states, visible=seen), 7)
    ratio, more, slower = (found[8] / found[1] for found in (costs, exponentials, seconds))
    return Measurement(
        f"8 heads: {ratio:g} times the multiplications, {more:g} times the exponentials, "
        f"{slower:.1f} times the time",
        (
            Figure("multiplications, 8 heads over 1", ratio, ratio < 1),
            Figure("exponentials, 8 heads over 1", more, more < 1),
            Figure("time, 8 heads over 1 (varies)", slower),
        ),
        Bars("Exponentials by heads", [(f"{heads} heads", n) for heads, n in exponentials.items()]),
    )
