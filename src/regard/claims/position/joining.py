"""Added, put beside, or on the scores: how a position joins (D0, D2 b, D2 c)."""

from functools import partial

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measured, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import difference, exact
from regard.draw.bars import Bars
from regard.layers.attention import attend, dot, scaled_dot, softmax
from regard.layers.distance import RelativeTable
from regard.layers.position import Added, Concatenated, Sinusoidal
from regard.layers.visibility import causal
from regard.models.body import all_visible

POSITIONS, WIDTH = 17, 24


@claim(
    numbers=(25,),
    source="D2 b; Vaswani et al. 2017, §3.5",
    statement="Adding positions gives scores with four terms, two of them crossed; putting them "
    "beside gives two, and wider states.",
    layer="layers/position.py",
    reading="Both identities hold to rounding, before the matrices Wq and Wk.",
    then="add-or-concatenate-trained trains both at one width.",
)
@exact()
def add_or_concatenate() -> Measured:
    """Score 17 states with waves added and with waves put beside, and take the terms apart.

    Added: x·x + x·p + p·x + p·p. Beside: x·x + p·p.
    """
    states, table = torch.randn(1, POSITIONS, WIDTH), Sinusoidal(WIDTH)
    places = table(POSITIONS)[None]
    added, beside = Added(table)(states), Concatenated(table)(states)
    four = _scores(states, states) + _scores(states, places)
    four = four + _scores(places, states) + _scores(places, places)
    two = _scores(states, states) + _scores(places, places)
    crossed = difference(_scores(added, added), four)
    apart = difference(_scores(beside, beside), two)
    return Measured(
        f"four terms to {crossed:.0e}, two to {apart:.0e}; widths {WIDTH} and {2 * WIDTH}",
        (
            Figure("error of the four terms, added", crossed, crossed < 1e-11, 4e-13, within=60.0),
            Figure("error of the two terms, beside", apart, apart < 1e-11),
            Figure("width, added", added.shape[-1], added.shape[-1] == WIDTH),
            Figure("width, beside", beside.shape[-1], beside.shape[-1] == 2 * WIDTH),
        ),
    )


def _scores(query: Tensor, key: Tensor) -> Tensor:
    return dot(query[:, None], key[:, None])


@claim(
    numbers=(25,),
    source="D2 b",
    statement="Concatenation can do all that addition can, and more, for d more columns.",
    layer="layers/position.py",
    reading="With W twice it is addition. With two different matrices no single one on the sum "
    "comes near.",
    then="Give positions fewer features than tokens: Concatenated takes any width.",
)
@exact()
def concatenation_more_general() -> Measured:
    """Put positions beside the states and multiply by [W W]; add them and multiply by W."""
    states, table = torch.randn(1, POSITIONS, WIDTH), Sinusoidal(WIDTH)
    matrix, other = torch.randn(2, WIDTH, WIDTH)
    added, beside = Added(table)(states), Concatenated(table)(states)
    gap = difference(beside @ torch.cat([matrix, matrix]), added @ matrix)
    wide = torch.randn(1, 8 * WIDTH, WIDTH)
    left_over = _missed(Added(table)(wide), Concatenated(table)(wide) @ torch.cat([matrix, other]))
    return Measured(
        f"[W W] on both equals W on the sum to {gap:.0e}; the converse misses by {left_over:.0%}",
        (
            Figure("beside with [W W] against added with W", gap, gap < 1e-12),
            Figure("added against beside with [W U], best fit", left_over, left_over > 0.1),
            Figure("columns more", WIDTH),
        ),
    )


def _missed(states: Tensor, wanted: Tensor) -> float:
    fitted = torch.linalg.lstsq(states[0], wanted[0]).solution
    return ((states[0] @ fitted - wanted[0]).norm() / wanted.norm()).item()


@claim(
    numbers=(26,),
    source="D2 c.i; Shaw et al. 2018",
    statement="A relative bias on the scores equals concatenated positions: π = q_pos·k_pos.",
    layer="layers/distance.py",
    reading="The looks agree to rounding, both scores being divided by the same root. A bias of "
    "full rank needs as many features as there are positions.",
    then="Try the same with RelativeTable's bias, factored by torch.linalg.svd.",
)
@exact()
def bias_is_concatenation() -> Measured:
    """Compare the look with [q, q_pos]·[k, k_pos] to the look with q·k plus the bias q_pos·k_pos.

    All scores divided by the same √24; 17 positions, 5 features of position.
    """
    query, key, value = torch.randn(3, 1, 1, POSITIONS, WIDTH)
    own, other = torch.randn(2, 1, 1, POSITIONS, 5)
    scale, look = WIDTH**-0.5, partial(attend, select=softmax, visible=all_visible(POSITIONS))
    biased = look(query, key, value, score=scaled_dot, bias=scale * dot(own, other))
    wide = (torch.cat([query, own], -1) * scale, torch.cat([key, other], -1))
    gap = difference(biased.weights, look(*wide, value, score=dot).weights)
    general = torch.randn(POSITIONS, POSITIONS)
    rank = int(torch.linalg.matrix_rank(general))
    return Measured(
        f"the two looks differ by {gap:.0e}",
        (
            Figure("largest difference of the weights", gap, gap < 1e-12),
            Figure("features a general bias needs", rank, rank == POSITIONS),
        ),
    )


@claim(
    numbers=(27,),
    source="D2 c.ii; Shaw et al. 2018",
    statement="A bias per head and distance has m(2T - 1) parameters.",
    layer="layers/distance.py",
    reading="T - 1 distances on either side and 0, for each head. A causal look uses mT of them.",
    then="Share them among buckets: RelativeBuckets(8, 32, 128) has 256.",
)
def relative_bias_parameters() -> Measured:
    """Count the layer's table for 8 heads and texts of 512, and those that a causal look can use.

    Used are the numbers with a gradient after one pass over 512 positions.
    """
    heads, longest = 8, 512
    layer = RelativeTable(heads, longest)
    count = count_parameters(layer)
    bias = layer(longest, longest)
    (bias * causal(longest, longest)).sum().backward()
    assert layer.table.grad is not None
    used = int((layer.table.grad != 0).sum())
    with torch.no_grad():
        layer.table.normal_()
        drawn = layer(longest, longest)[0]
        toeplitz = difference(drawn[:, 1:, 1:], drawn[:, :-1, :-1])
    return Measured(
        f"8 heads, texts of 512: {count:,} numbers, of which a causal look uses {used:,}",
        (
            Figure("m(2T - 1)", count, count == heads * (2 * longest - 1), given=8184),
            Figure("used by a causal look, mT", used, used == heads * longest, given=4096),
            Figure("difference along diagonals", toeplitz, toeplitz == 0.0),
        ),
        Bars("Numbers to learn", [("both ways", count), ("causal", used)]),
    )


@claim(
    numbers=(28,),
    source="D0 Q4",
    statement="Adding the position does not destroy the embedding: both can be read from the sum.",
    layer="layers/position.py",
    reading="Shares of pairs never seen whose token, or place, one linear map finds. The room is "
    "wide enough for both.",
    then="Shrink the width to 32 and watch both fall.",
)
@exact()
def addition_keeps_the_token() -> Measured:
    """Read token and position from x + p by one linear map each, on pairs it was not fitted on.

    100 random tokens and 50 positions of waves, width 128, token vectors of unit entries; half of
    the 5,000 pairs to fit.
    """
    tokens, places, width = 100, 50, 128
    vectors = torch.randn(tokens, width)
    pairs = torch.cartesian_prod(torch.arange(tokens), torch.arange(places))
    pairs = pairs[torch.randperm(len(pairs))]
    waves = Sinusoidal(width)(places)
    states = torch.cat([vectors[pairs[:, 0]] + waves[pairs[:, 1]], torch.ones(len(pairs), 1)], 1)
    token, place = _probe(states, pairs[:, 0], tokens), _probe(states, pairs[:, 1], places)
    return Measured(
        f"from the sum {token:.1%} of tokens and {place:.1%} of positions are read",
        (
            Figure("tokens read from the sum", token, token > 0.95),
            Figure("positions read from the sum", place, place > 0.8),
            Figure("chance, positions", 1 / places),
        ),
    )


def _probe(states: Tensor, labels: Tensor, many: int) -> float:
    half = len(states) // 2
    wanted = torch.nn.functional.one_hot(labels, many).to(states)
    fitted = torch.linalg.lstsq(states[:half], wanted[:half]).solution
    said = (states[half:] @ fitted).argmax(dim=1)
    return (said == labels[half:]).double().mean().item()
