"""Positions added, concatenated, or as a bias on the scores (D0, D2 b, D2 c)."""

from functools import partial

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
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
    statement="Adding positions gives scores with four terms, two of them cross terms; "
    "concatenating them gives two terms, and wider states.",
    layer="layers/position.py",
    meaning="Both identities hold up to rounding, before the projections Wq and Wk.",
    next_step="add-or-concatenate-trained trains both at one width.",
)
@exact()
def add_or_concatenate() -> Measurement:
    """Score 17 states with sinusoids added and with sinusoids concatenated; expand the products.

    Added: x·x + x·p + p·x + p·p. Concatenated: x·x + p·p.
    """
    states, table = torch.randn(1, POSITIONS, WIDTH), Sinusoidal(WIDTH)
    positions = table(POSITIONS)[None]
    added, joined = Added(table)(states), Concatenated(table)(states)
    four = _score(states, states) + _score(states, positions)
    four = four + _score(positions, states) + _score(positions, positions)
    two = _score(states, states) + _score(positions, positions)
    crossed = difference(_score(added, added), four)
    apart = difference(_score(joined, joined), two)
    return Measurement(
        f"four terms to {crossed:.0e}, two to {apart:.0e}; widths {WIDTH} and {2 * WIDTH}",
        (
            Figure("error of the four terms, added", crossed, crossed < 1e-11, 4e-13, within=60.0),
            Figure("error of the two terms, concatenated", apart, apart < 1e-11),
            Figure("width, added", added.shape[-1], added.shape[-1] == WIDTH),
            Figure("width, concatenated", joined.shape[-1], joined.shape[-1] == 2 * WIDTH),
        ),
    )


def _score(query: Tensor, key: Tensor) -> Tensor:
    return dot(query[:, None], key[:, None])


@claim(
    numbers=(25,),
    source="D2 b",
    statement="Concatenation can represent all that addition can, and more, for d more columns.",
    layer="layers/position.py",
    meaning="With [W W] it equals addition. With two different matrices no single matrix on the "
    "sum comes close.",
    next_step="Give positions fewer features than tokens: Concatenated takes any width.",
)
@exact()
def concatenation_more_general() -> Measurement:
    """Concatenate positions to the states and multiply by [W W]; add them and multiply by W."""
    states, table = torch.randn(1, POSITIONS, WIDTH), Sinusoidal(WIDTH)
    matrix, other = torch.randn(2, WIDTH, WIDTH)
    added, joined = Added(table)(states), Concatenated(table)(states)
    gap = difference(joined @ torch.cat([matrix, matrix]), added @ matrix)
    wide = torch.randn(1, 8 * WIDTH, WIDTH)
    left_over = _measure_error(
        Added(table)(wide), Concatenated(table)(wide) @ torch.cat([matrix, other])
    )
    return Measurement(
        f"[W W] on both equals W on the sum to {gap:.0e}; the converse has error {left_over:.0%}",
        (
            Figure("concatenated with [W W] against added with W", gap, gap < 1e-12),
            Figure("added against concatenated with [W U], best fit", left_over, left_over > 0.1),
            Figure("additional columns", WIDTH),
        ),
    )


def _measure_error(states: Tensor, targets: Tensor) -> float:
    fitted = torch.linalg.lstsq(states[0], targets[0]).solution
    return ((states[0] @ fitted - targets[0]).norm() / targets.norm()).item()


@claim(
    numbers=(26,),
    source="D2 c.i; Shaw et al. 2018",
    statement="A relative bias on the scores equals concatenated positions: π = q_pos·k_pos.",
    layer="layers/distance.py",
    meaning="The attention weights agree up to rounding, both scores being divided by the same "
    "root. A bias of full rank needs as many features as there are positions.",
    next_step="Try the same with RelativeTable's bias, factored by torch.linalg.svd.",
)
@exact()
def bias_is_concatenation() -> Measurement:
    """Compare attention with [q, q_pos]·[k, k_pos] to attention with q·k plus the bias q_pos·k_pos.

    All scores divided by the same √24; 17 positions, 5 position features.
    """
    query, key, value = torch.randn(3, 1, 1, POSITIONS, WIDTH)
    own, other = torch.randn(2, 1, 1, POSITIONS, 5)
    scale, attend_all = WIDTH**-0.5, partial(attend, select=softmax, visible=all_visible(POSITIONS))
    biased = attend_all(query, key, value, score=scaled_dot, bias=scale * dot(own, other))
    wide = (torch.cat([query, own], -1) * scale, torch.cat([key, other], -1))
    gap = difference(biased.weights, attend_all(*wide, value, score=dot).weights)
    general = torch.randn(POSITIONS, POSITIONS)
    rank = int(torch.linalg.matrix_rank(general))
    return Measurement(
        f"the attention weights differ by {gap:.0e}",
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
    meaning="T - 1 distances on either side and 0, for each head. Causal attention uses mT of "
    "them.",
    next_step="Share them among buckets: RelativeBuckets(8, 32, 128) has 256.",
)
def relative_bias_parameters() -> Measurement:
    """Count the layer's table for 8 heads and texts of 512, and what causal attention uses of it.

    Used are the entries with a gradient after one pass over 512 positions.
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
    return Measurement(
        f"8 heads, texts of 512: {count:,} parameters, of which causal attention uses {used:,}",
        (
            Figure("m(2T - 1)", count, count == heads * (2 * longest - 1), given=8184),
            Figure("used by causal attention, mT", used, used == heads * longest, given=4096),
            Figure("difference along diagonals", toeplitz, toeplitz == 0.0),
        ),
        Bars("Parameters", [("both ways", count), ("causal", used)]),
    )


@claim(
    numbers=(28,),
    source="D0 Q4",
    statement="Adding the position does not destroy the embedding: both can be decoded from the "
    "sum.",
    layer="layers/position.py",
    meaning="The accuracy of a linear probe for token and position on unseen pairs. The space is "
    "large enough for both.",
    next_step="Reduce the width to 32 and watch both fall.",
)
@exact()
def addition_keeps_the_token() -> Measurement:
    """Decode token and position from x + p by one linear probe each, on unseen pairs.

    100 random tokens and 50 sinusoidal positions, width 128, token vectors of unit variance; half
    of the 5,000 pairs to fit.
    """
    tokens, positions, width = 100, 50, 128
    vectors = torch.randn(tokens, width)
    pairs = torch.cartesian_prod(torch.arange(tokens), torch.arange(positions))
    pairs = pairs[torch.randperm(len(pairs))]
    sinusoids = Sinusoidal(width)(positions)
    states = torch.cat(
        [vectors[pairs[:, 0]] + sinusoids[pairs[:, 1]], torch.ones(len(pairs), 1)], 1
    )
    token, position = _probe(states, pairs[:, 0], tokens), _probe(states, pairs[:, 1], positions)
    return Measurement(
        f"from the sum {token:.1%} of tokens and {position:.1%} of positions are decoded",
        (
            Figure("tokens decoded from the sum", token, token > 0.95),
            Figure("positions decoded from the sum", position, position > 0.8),
            Figure("chance, positions", 1 / positions),
        ),
    )


def _probe(states: Tensor, labels: Tensor, many: int) -> float:
    half = len(states) // 2
    targets = torch.nn.functional.one_hot(labels, many).to(states)
    fitted = torch.linalg.lstsq(states[:half], targets[:half]).solution
    predicted = (states[half:] @ fitted).argmax(dim=1)
    return (predicted == labels[half:]).double().mean().item()
