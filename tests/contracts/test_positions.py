"""Every position scheme keeps the same promises, at whichever of the three moments it applies.

A text cut in two, its second part given an offset, has the positions of the whole; the
order of words is felt; and what is felt inside attention is distance only.
"""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.attention import Attention, PositionScheme
from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable
from regard.layers.position import Added, Concatenated, Learned, Rotary, Sinusoidal
from regard.layers.visibility import causal

BATCH, HEADS, FEATURES, POSITIONS, MOST = 2, 3, 4, 7, 11
WIDTH = HEADS * FEATURES

ON_STATES = {
    "sinusoidal, added": lambda: Added(Sinusoidal(WIDTH)),
    "sinusoidal, concatenated": lambda: Concatenated(Sinusoidal(2)),
    "learned, added": lambda: Added(Learned(MOST, WIDTH)),
    "learned, concatenated": lambda: Concatenated(Learned(MOST, 5)),
}
ON_SCORES = {
    "relative table": lambda: RelativeTable(HEADS, MOST),
    "relative buckets": lambda: RelativeBuckets(HEADS, buckets=8, farthest=5),
    "relative buckets, causal": lambda: RelativeBuckets(HEADS, buckets=5, farthest=5, causal=True),
    "alibi": lambda: Alibi(HEADS),
    "alibi, causal": lambda: Alibi(HEADS, causal=True),
}
INSIDE = {
    **{name: (lambda make=make: PositionScheme(bias=make())) for name, make in ON_SCORES.items()},
    "rotary": lambda: PositionScheme(rotary=Rotary(FEATURES)),
}

on_states = pytest.mark.parametrize("make", ON_STATES.values(), ids=ON_STATES)
on_scores = pytest.mark.parametrize("make", ON_SCORES.values(), ids=ON_SCORES)
inside_attention = pytest.mark.parametrize("make", INSIDE.values(), ids=INSIDE)


def drawn(module):
    torch.manual_seed(0)
    for weight in module.parameters():
        weight.data.normal_()
    return module.double()


def states():
    torch.manual_seed(1)
    return torch.randn(BATCH, POSITIONS, WIDTH, dtype=torch.float64)


@on_states
def test_a_text_cut_in_two_is_placed_as_the_whole(make):
    place, given = drawn(make()), states()
    late = place(given[:, 3:], start=3)
    assert_close(place(given)[:, 3:], late, rtol=0, atol=0)


@on_states
def test_no_two_positions_are_alike(make):
    placed = drawn(make())(torch.zeros(1, MOST, WIDTH, dtype=torch.float64))[0]
    apart = torch.cdist(placed, placed) + torch.eye(MOST)
    assert apart.min() > 0.1


@on_scores
def test_the_last_query_stands_at_the_last_key(make):
    bias = drawn(make())
    assert bias(3, POSITIONS).shape == (1, HEADS, 3, POSITIONS)
    assert_close(bias(3, POSITIONS), bias(POSITIONS, POSITIONS)[:, :, -3:], rtol=0, atol=0)


@on_scores
def test_a_bias_is_one_number_per_head_and_distance(make):
    bias = drawn(make())(POSITIONS, POSITIONS)[0]
    assert_close(bias[:, 1:, 1:], bias[:, :-1, :-1], rtol=0, atol=0)
    assert (bias[0] != bias[1]).any()


@inside_attention
@pytest.mark.parametrize("rule", [None, causal], ids=["free", "causal"])
def test_inside_attention_a_text_moved_as_a_whole_mixes_the_same(make, rule):
    layer = drawn(Attention(WIDTH, HEADS, rule=rule, place=make()))
    given, moved = states(), torch.zeros(BATCH, POSITIONS + 2, WIDTH, dtype=torch.float64)
    moved[:, 2:] = given
    everything = torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    late = torch.cat([torch.zeros(1, 1, 1, 2, dtype=torch.bool), everything], dim=-1)
    assert_close(layer(moved, visible=late)[:, 2:], layer(given, visible=everything))


@inside_attention
def test_inside_attention_order_is_felt(make):
    layer, given = drawn(Attention(WIDTH, HEADS, place=make())), states()
    assert not same_when_reversed(layer, given)


def test_without_positions_only_a_causal_view_feels_order():
    given = states()
    assert same_when_reversed(drawn(Attention(WIDTH, HEADS)), given)
    assert not same_when_reversed(drawn(Attention(WIDTH, HEADS, rule=causal)), given)


def same_when_reversed(layer, given):
    everything = torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    turned = layer(given.flip(1), visible=everything).flip(1)
    return torch.allclose(turned, layer(given, visible=everything), rtol=0, atol=1e-12)
