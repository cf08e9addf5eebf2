"""Attention keeps its promises, whichever score, selection and visibility a recipe picks.

Every size below is a different prime, so that no transposed axis can pass unnoticed.
"""

from contextlib import nullcontext

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from regard.layers import attention
from regard.layers.attention import (
    Additive,
    Attention,
    Equation,
    PositionScheme,
    Projections,
    argmax,
    attend,
    dot,
    fused,
    log_length,
    scaled_dot,
    softmax,
)
from regard.layers.distance import Alibi
from regard.layers.dropout import keyed
from regard.layers.memory import Memory
from regard.layers.norm import RMSNorm
from regard.layers.position import Rotary
from regard.layers.tap import listen
from regard.layers.visibility import causal, every, local, padding, within

BATCH, HEADS, QUERIES, KEYS, FEATURES = 2, 3, 5, 7, 11
LENGTHS = torch.tensor([7, 4])

SCORES = {"scaled-dot": scaled_dot, "dot": dot, "additive": Additive(HEADS, FEATURES)}
SELECTS = {"softmax": softmax, "log-length": log_length, "argmax": argmax}
VIEWS = {
    "full": torch.ones(1, 1, 1, KEYS, dtype=torch.bool),
    "causal": causal(QUERIES, KEYS),
    "local": local(QUERIES, KEYS, window=2),
    "padded": padding(LENGTHS, KEYS),
    "causal and padded": causal(QUERIES, KEYS) & padding(LENGTHS, KEYS),
}

every_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
every_select = pytest.mark.parametrize("select", SELECTS.values(), ids=SELECTS)
every_view = pytest.mark.parametrize("visible", VIEWS.values(), ids=VIEWS)


@pytest.fixture
def heads():
    """Return queries, keys and values, in the order attention takes them."""
    torch.manual_seed(0)
    sizes = [(BATCH, HEADS, n, FEATURES) for n in (QUERIES, KEYS, KEYS)]
    return [torch.randn(size) for size in sizes]


@every_score
@every_select
@every_view
def test_weights_sum_to_one_over_visible_keys(heads, score, select, visible):
    weights = attend(*heads, score=score, select=select, visible=visible).weights
    assert_close(weights.sum(dim=-1), torch.ones(BATCH, HEADS, QUERIES))
    assert not weights.masked_select(~visible.expand_as(weights)).any()


@every_score
@every_select
def test_a_query_that_may_see_nothing_sees_zero_and_not_nan(heads, score, select):
    nothing = torch.zeros(1, 1, 1, KEYS, dtype=torch.bool)
    assert not attend(*heads, score=score, select=select, visible=nothing).mixed.any()


@every_score
@every_select
def test_what_is_hidden_cannot_be_felt(heads, score, select):
    query, key, value = heads
    visible = padding(LENGTHS, KEYS)
    before = attend(query, key, value, score=score, select=select, visible=visible).mixed
    key[1, :, 4:], value[1, :, 4:] = 1e3, -1e3
    after = attend(query, key, value, score=score, select=select, visible=visible).mixed
    assert_close(before, after, rtol=0, atol=0)


def test_argmax_attends_to_one_key_and_passes_gradients(heads):
    query, key, value = heads
    query.requires_grad_()
    visible = VIEWS["full"]
    mixed, weights = attend(query, key, value, score=scaled_dot, select=argmax, visible=visible)
    assert set(weights.unique().tolist()) == {0.0, 1.0}
    mixed.sum().backward()
    assert query.grad is not None and query.grad.any()


def test_additive_is_its_equation(heads):
    query, key, _ = heads
    additive = SCORES["additive"]
    expected = torch.stack(
        [torch.tanh(query[:, h, :, None] + key[:, h, None]) @ additive.v[h] for h in range(HEADS)],
        dim=1,
    )
    assert_close(additive(query, key), expected)


@every_score
def test_every_score_is_smooth(heads, score):
    query, key = (tensor.double().requires_grad_() for tensor in heads[:2])
    if score is SCORES["additive"]:
        score = Additive(HEADS, FEATURES).double()
    assert gradcheck(score, (query[:1, :, :2], key[:1, :, :3]))


def test_dot_products_of_random_vectors_vary_as_much_as_they_have_features():
    torch.manual_seed(0)
    for features in (16, 64, 256):
        query, key = torch.randn(2, 1, 1, 301, features)
        assert_close(dot(query, key).var(), torch.tensor(float(features)), rtol=0.05, atol=0)
        assert_close(scaled_dot(query, key).var(), torch.tensor(1.0), rtol=0.05, atol=0)


# ── the layer ────────────────────────────────────────────────────────────────────────────────────

WIDTH = HEADS * FEATURES
ANYWHERE = torch.ones(1, 1, 1, KEYS, dtype=torch.bool)


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return Attention(WIDTH, HEADS).double()


@pytest.fixture
def states():
    torch.manual_seed(1)
    return torch.randn(BATCH, QUERIES, WIDTH, dtype=torch.float64)


@pytest.fixture
def context():
    torch.manual_seed(2)
    return torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)


def test_cross_attention_gives_one_state_per_query(layer, states, context):
    assert layer(states, context, visible=ANYWHERE).shape == states.shape


def test_self_attention_is_cross_attention_to_itself(layer, context):
    own = layer(context, visible=ANYWHERE)
    assert_close(layer(context, context, visible=ANYWHERE), own, rtol=0, atol=0)


def test_one_head_is_plain_attention(states, context):
    layer = Attention(WIDTH, heads=1).double()
    query, key, value = (
        states @ layer.to_query.weight.T,
        *(context @ to.weight.T for to in (layer.to_key, layer.to_value)),
    )
    weights = (query @ key.mT / WIDTH**0.5).softmax(-1)
    expected = weights @ value @ layer.to_output.weight.T
    assert_close(layer(states, context, visible=ANYWHERE), expected)


def test_the_number_of_heads_costs_no_weights():
    counts = {sum(w.numel() for w in Attention(12, h).parameters()) for h in (1, 2, 3, 4, 6, 12)}
    assert counts == {4 * 12 * 12}
    biased = Attention(12, 3, projections=Projections(biases=True))
    assert sum(w.numel() for w in biased.parameters()) == 4 * 12 * 13


def test_the_rule_is_added_to_what_the_caller_forbids(context):
    torch.manual_seed(0)
    ruled = Attention(WIDTH, HEADS, rule=causal).double()
    padded = padding(LENGTHS, KEYS)
    with listen(ruled) as recorded:
        ruled(context, visible=padded)
    (weights,) = recorded["weights"]
    assert_close(weights > 0, (padded & causal(KEYS, KEYS)).expand_as(weights))


def test_the_tap_records_every_head(layer, states, context):
    with listen(layer) as recorded:
        layer(states, context, visible=ANYWHERE)
    assert recorded["weights"][0].shape == (BATCH, HEADS, QUERIES, KEYS)


def test_the_fast_way_is_taken_only_when_it_is_equal_and_nobody_listens(monkeypatch, states):
    taken = []

    def watched(*heads, **rest):
        taken.append("equation")
        return attend(*heads, **rest)

    monkeypatch.setattr(attention, "attend", watched)

    def takes_equation(layer, *, listening=False):
        taken.clear()
        with listen(layer) if listening else nullcontext():
            layer.double()(states, visible=ANYWHERE[..., :QUERIES])
        return bool(taken)

    assert not takes_equation(Attention(WIDTH, HEADS))
    assert takes_equation(Attention(WIDTH, HEADS), listening=True)
    assert takes_equation(Attention(WIDTH, HEADS, dropout=0.5))
    assert not takes_equation(Attention(WIDTH, HEADS, dropout=0.5).eval())
    assert takes_equation(Attention(WIDTH, HEADS, equation=Equation(dot)))
    assert takes_equation(Attention(WIDTH, HEADS, equation=Equation(scaled_dot, argmax)))


def test_the_kernel_is_left_to_skip_the_future_only_where_nothing_else_is_hidden(
    monkeypatch, context
):
    skipped = []

    def watched(*heads, visible, **rest):
        skipped.append(visible is None)
        return fused(*heads, visible=visible, **rest)

    monkeypatch.setattr(attention, "fused", watched)

    def skips(layer, visible=ANYWHERE, memory=None):
        skipped.clear()
        layer.double()(context, visible=visible, memory=memory)
        return skipped == [True]

    layer = Attention(WIDTH, HEADS, rule=causal)
    assert skips(layer) and skips(Attention(WIDTH, HEADS, rule=every(causal)).eval())
    assert skips(layer, padding(torch.tensor([KEYS, KEYS]), KEYS))
    assert not skips(layer, padding(LENGTHS, KEYS))
    assert not skips(layer, causal(KEYS, KEYS))
    assert not skips(Attention(WIDTH, HEADS))
    assert not skips(Attention(WIDTH, HEADS, rule=every(causal, within(2))))
    assert not skips(Attention(WIDTH, HEADS, rule=causal, place=PositionScheme(bias=Alibi(HEADS))))
    memory = Memory()
    assert skips(layer, memory=memory)
    twice = torch.ones(1, 1, 1, 2 * KEYS, dtype=torch.bool)
    assert not skips(layer, twice, memory)


@pytest.mark.parametrize("training", [True, False])
def test_skipping_the_future_equals_hiding_it(context, training):
    torch.manual_seed(0)
    layer = Attention(WIDTH, HEADS, rule=causal).double().train(training)
    context.requires_grad_()
    fast = layer(context, visible=ANYWHERE)
    with listen(layer):
        slow = layer(context, visible=ANYWHERE)
    assert_close(fast, slow, rtol=0, atol=1e-12)
    inputs = [context, *layer.parameters()]
    weights = torch.randn_like(fast)
    for one, other in zip(
        torch.autograd.grad((fast * weights).sum(), inputs),
        torch.autograd.grad((slow * weights).sum(), inputs),
        strict=True,
    ):
        assert_close(one, other, rtol=0, atol=1e-12)


def test_weights_are_thinned_while_training_only(states, context):
    layer = Attention(WIDTH, HEADS, dropout=0.5).double()
    with keyed(1), listen(layer) as recorded:
        layer(states, context, visible=ANYWHERE)
    with listen(layer.eval()) as whole:
        layer(states, context, visible=ANYWHERE)
    thinned, weights = recorded["weights"][0], whole["weights"][0]
    assert_close(thinned, torch.where(thinned == 0, 0, 2 * weights))
    assert 0.3 < (thinned == 0).double().mean() < 0.7


def test_normed_queries_and_keys_have_one_size_per_head(states, context):
    layer = Attention(WIDTH, HEADS, projections=Projections(normed=True)).double()
    torch.nn.init.normal_(layer.norm_query.weight)
    assert isinstance(layer.norm_key, RMSNorm) and layer.norm_key.weight.shape == (FEATURES,)
    query = (states @ layer.to_query.weight.T).view(BATCH, QUERIES, HEADS, FEATURES)
    key = (context @ layer.to_key.weight.T).view(BATCH, KEYS, HEADS, FEATURES)
    query = query / query.square().mean(-1, keepdim=True).sqrt() * layer.norm_query.weight
    key = key / key.square().mean(-1, keepdim=True).sqrt()
    scores = torch.einsum("bqhf,bkhf->bhqk", query, key) / FEATURES**0.5
    with listen(layer) as recorded:
        layer(states, context, visible=ANYWHERE)
    assert_close(recorded["weights"][0], scores.softmax(-1), rtol=1e-4, atol=1e-4)


def test_a_contexts_keys_are_computed_once_and_kept(layer, states, context):
    computed, memory = [], Memory()
    layer.to_key.register_forward_hook(lambda *_: computed.append("key"))
    layer.to_value.register_forward_hook(lambda *_: computed.append("value"))
    parts = [
        layer(newest, context, visible=ANYWHERE, memory=memory) for newest in states.split(1, dim=1)
    ]
    again = layer(states, visible=ANYWHERE, memory=memory)
    assert computed == ["key", "value"]
    whole = layer(states, context, visible=ANYWHERE)
    assert_close(again, whole, rtol=0, atol=1e-12)
    assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-12)


def test_queries_into_a_context_are_turned_to_where_they_stand(states, context):
    layer = Attention(12, 3, place=PositionScheme(rotary=Rotary(4))).double()
    states, context, memory = states[..., :12], context[..., :12], Memory()
    whole = layer(states, context, visible=ANYWHERE)
    parts = [
        layer(newest, context, visible=ANYWHERE, memory=memory) for newest in states.split(2, dim=1)
    ]
    assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-12)


def test_heads_that_do_not_divide_the_width_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="width=10, heads=3; the next width that fits is 12"):
        Attention(width=10, heads=3)


def lead(keys, by):
    scores = torch.zeros(1, 1, 1, keys, dtype=torch.float64)
    scores[..., 0] = by
    return scores


@pytest.mark.parametrize("keys", [2, 7, 101])
def test_log_length_gives_a_lead_the_weight_of_the_closed_form(keys):
    visible = torch.ones(1, 1, 1, keys, dtype=torch.bool)
    first = log_length(lead(keys, 1.5), visible)[0, 0, 0, 0]
    assert_close(first, torch.tensor(keys**1.5 / (keys**1.5 + keys - 1), dtype=torch.float64))


def test_log_length_counts_visible_keys_and_not_padding():
    scores = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    visible = padding(torch.tensor([7, 4]), 7)
    short = log_length(scores[1:, :, :, :4], torch.ones(1, 1, 1, 4, dtype=torch.bool))
    assert_close(log_length(scores, visible)[1:, :, :, :4], short)


def test_log_length_counts_for_every_query_the_keys_it_sees():
    scores = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    weights = log_length(scores, causal(5, 5))
    for place in range(5):
        row = (
            scores[:, :, place : place + 1, : place + 1] * torch.tensor(place + 1.0).log().double()
        )
        expected = softmax(row, torch.ones(1, 1, 1, place + 1, dtype=torch.bool))
        assert_close(weights[:, :, place : place + 1, : place + 1], expected)


def test_log_length_gives_a_single_key_all_the_weight():
    assert log_length(lead(1, 3.0), torch.ones(1, 1, 1, 1, dtype=torch.bool)).item() == 1.0
