"""With torch's weights copied in, our layers are torch's layers, in float64, in both modes."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from regard.layers.attention import Attention, Projections, attend, fused, scaled_dot, softmax
from regard.layers.block import Block
from regard.layers.convolution import Convolution
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import norm
from regard.layers.recurrent import Recurrent
from regard.layers.tap import listen
from regard.layers.visibility import causal, local, padding

BATCH, HEADS, FEATURES, INNER, QUERIES, KEYS = 2, 3, 5, 23, 11, 7
WIDTH = HEADS * FEATURES
LENGTHS, TARGET_LENGTHS = torch.tensor([7, 4]), torch.tensor([8, 11])
VISIBLE = padding(LENGTHS, KEYS)
TARGET_VISIBLE = padding(TARGET_LENGTHS, QUERIES)

both_modes = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
close = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(autouse=True)
def in_float64():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def copy_attention(ours, theirs):
    for ours_to, weight, bias in zip(
        (ours.to_query, ours.to_key, ours.to_value),
        theirs.in_proj_weight.chunk(3),
        theirs.in_proj_bias.chunk(3),
        strict=True,
    ):
        ours_to.weight.data, ours_to.bias.data = weight.data, bias.data
    ours.to_output.load_state_dict(theirs.out_proj.state_dict())


def shaken(module):
    """Draw every weight, as torch begins biases and norms at numbers that hide mistakes."""
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)
    return module


def our_attention(rule=None):
    return Attention(WIDTH, HEADS, rule=rule, projections=Projections(biases=True))


# ── attention ────────────────────────────────────────────────────────────────────────────────────

NOTHING_FOR_ONE = torch.ones(BATCH, 1, QUERIES, KEYS, dtype=torch.bool)
NOTHING_FOR_ONE[1, :, 3] = False
VIEWS = {
    "full": torch.ones(1, 1, 1, KEYS, dtype=torch.bool),
    "causal": causal(QUERIES, KEYS),
    "local": local(QUERIES, KEYS, window=5),
    "padded": VISIBLE,
    "causal and padded": causal(QUERIES, KEYS) & VISIBLE,
    "local and padded": local(QUERIES, KEYS, window=5) & VISIBLE,
    "nothing for one query": NOTHING_FOR_ONE,
}
every_view = pytest.mark.parametrize("visible", VIEWS.values(), ids=VIEWS)
BIASES = {
    "no bias": lambda: None,
    "a bias": lambda: torch.randn(1, HEADS, QUERIES, KEYS, requires_grad=True),
    "a bias per row": lambda: torch.randn(BATCH, 1, QUERIES, KEYS, requires_grad=True),
}
every_bias = pytest.mark.parametrize("make_bias", BIASES.values(), ids=BIASES)


def parts():
    return [
        torch.randn(BATCH, HEADS, n, FEATURES, requires_grad=True) for n in (QUERIES, KEYS, KEYS)
    ]


@every_view
@every_bias
def test_the_equation_is_torchs_kernel_there_and_back(visible, make_bias):
    bias, given = make_bias(), parts()
    ours = attend(*given, score=scaled_dot, select=softmax, visible=visible, bias=bias).mixed
    mask = visible if bias is None else bias.masked_fill(~visible, -torch.inf)
    theirs = scaled_dot_product_attention(*given, attn_mask=mask)
    same_there_and_back(ours, theirs, [*given, *([] if bias is None else [bias])])


@every_view
@every_bias
def test_the_fast_way_is_the_equation_there_and_back(visible, make_bias):
    bias, given = make_bias(), parts()
    slow = attend(*given, score=scaled_dot, select=softmax, visible=visible, bias=bias).mixed
    fast = fused(*given, visible=visible, bias=bias)
    same_there_and_back(slow, fast, [*given, *([] if bias is None else [bias])])


def same_there_and_back(one, other, inputs):
    assert_close(one, other, **close)
    weight = torch.randn_like(one)
    back = [torch.autograd.grad(way, inputs, weight, retain_graph=True) for way in (one, other)]
    for ours, theirs in zip(*back, strict=True):
        assert ours.isfinite().all()
        assert_close(ours, theirs, **close)


@both_modes
@pytest.mark.parametrize("rule", [None, causal], ids=["free", "causal"])
def test_listening_to_attention_changes_nothing(training, rule):
    layer, states = our_attention(rule).train(training), torch.randn(BATCH, KEYS, WIDTH)
    fast = layer(states, visible=VISIBLE)
    with listen(layer):
        slow = layer(states, visible=VISIBLE)
    assert_close(fast, slow, **close)


@both_modes
@pytest.mark.parametrize("recorded", [False, True], ids=["fast", "equation"])
def test_attention_is_torchs_multi_head_attention(training, recorded):
    theirs = shaken(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)).train(training)
    ours = our_attention().train(training)
    copy_attention(ours, theirs)
    states, context = torch.randn(BATCH, QUERIES, WIDTH), torch.randn(BATCH, KEYS, WIDTH)
    expected, weights = theirs(
        states, context, context, key_padding_mask=~VISIBLE[:, 0, 0], average_attn_weights=False
    )
    if not recorded:
        assert_close(ours(states, context, visible=VISIBLE), expected, **close)
        return
    with listen(ours) as taps:
        assert_close(ours(states, context, visible=VISIBLE), expected, **close)
    assert_close(taps["weights"][0], weights, **close)


# ── the block ────────────────────────────────────────────────────────────────────────────────────


def our_block(order, activation, *, rule=None, cross=False):
    return Block(
        our_attention(rule),
        FeedForward(WIDTH, INNER, activation=activation, biases=True),
        norms=lambda: norm("layer", WIDTH, biases=True),
        order=order,
        cross=our_attention() if cross else None,
    )


def copy_rest(ours, theirs, norms):
    for part, theirs_norm in norms.items():
        getattr(ours, part).norm.load_state_dict(getattr(theirs, theirs_norm).state_dict())
    thinker = ours.feed_forward.part
    thinker.to_inner.load_state_dict(theirs.linear1.state_dict())
    thinker.to_output.load_state_dict(theirs.linear2.state_dict())


like_torch = [
    pytest.mark.parametrize("order", ["pre", "post"]),
    pytest.mark.parametrize("activation", ["relu", "gelu"]),
]


def every_block(test):
    for mark in like_torch:
        test = mark(test)
    return test


def torchs(layer, order, activation):
    made = layer(
        WIDTH,
        HEADS,
        INNER,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=order == "pre",
    )
    return shaken(made)


@both_modes
@every_block
def test_a_block_is_torchs_encoder_layer(order, activation, training):
    theirs = torchs(nn.TransformerEncoderLayer, order, activation).train(training)
    ours = our_block(order, activation).train(training)
    copy_attention(ours.mixer.part, theirs.self_attn)
    copy_rest(ours, theirs, {"mixer": "norm1", "feed_forward": "norm2"})
    states = torch.randn(BATCH, KEYS, WIDTH)
    expected = theirs(states, src_key_padding_mask=~VISIBLE[:, 0, 0])
    real = VISIBLE[:, 0, 0]
    assert_close(ours(states, visible=VISIBLE)[real], expected[real], **close)


@both_modes
@every_block
def test_a_block_with_a_context_is_torchs_decoder_layer(order, activation, training):
    theirs = torchs(nn.TransformerDecoderLayer, order, activation).train(training)
    ours = our_block(order, activation, rule=causal, cross=True).train(training)
    copy_attention(ours.mixer.part, theirs.self_attn)
    copy_attention(ours.cross.part, theirs.multihead_attn)
    copy_rest(ours, theirs, {"mixer": "norm1", "cross": "norm2", "feed_forward": "norm3"})
    states, context = torch.randn(BATCH, QUERIES, WIDTH), torch.randn(BATCH, KEYS, WIDTH)
    expected = theirs(
        states,
        context,
        tgt_mask=~causal(QUERIES, QUERIES)[0, 0],
        tgt_key_padding_mask=~TARGET_VISIBLE[:, 0, 0],
        memory_key_padding_mask=~VISIBLE[:, 0, 0],
    )
    mixed = ours(states, visible=TARGET_VISIBLE, context=context, context_visible=VISIBLE)
    real = TARGET_VISIBLE[:, 0, 0]
    assert_close(mixed[real], expected[real], **close)


# ── recurrence and convolution ───────────────────────────────────────────────────────────────────


@both_modes
@pytest.mark.parametrize(("cell", "torch_cell"), [("gru", nn.GRU), ("lstm", nn.LSTM)])
def test_causal_recurrence_is_torchs(cell, torch_cell, training):
    theirs = shaken(torch_cell(WIDTH, WIDTH, batch_first=True)).train(training)
    ours = Recurrent(WIDTH, cell=cell, causal=True).train(training)
    ours.onward.load_state_dict(theirs.state_dict())
    states = torch.randn(BATCH, KEYS, WIDTH)
    assert_close(ours(states, visible=VISIBLE), theirs(states)[0], **close)


@both_modes
@pytest.mark.parametrize(("cell", "torch_cell"), [("gru", nn.GRU), ("lstm", nn.LSTM)])
def test_free_recurrence_is_torchs_in_both_directions_over_packed_rows(cell, torch_cell, training):
    width = 2 * HEADS
    theirs = shaken(torch_cell(width, HEADS, batch_first=True, bidirectional=True)).train(training)
    ours = Recurrent(width, cell=cell, causal=False).train(training)
    state = theirs.state_dict()
    ours.onward.load_state_dict({n: w for n, w in state.items() if "reverse" not in n})
    ours.back.load_state_dict(
        {n.removesuffix("_reverse"): w for n, w in state.items() if "reverse" in n}
    )
    states = torch.randn(BATCH, KEYS, width)
    packed = nn.utils.rnn.pack_padded_sequence(states, LENGTHS, batch_first=True)
    expected = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)[0]
    real = VISIBLE[:, 0, 0]
    assert_close(ours(states, visible=VISIBLE)[real], expected[real], **close)


@both_modes
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("dilation", [1, 2])
def test_convolution_is_torchs(kernel, dilation, training):
    theirs = shaken(nn.Conv1d(WIDTH, WIDTH, kernel, dilation=dilation)).train(training)
    states = torch.randn(BATCH, KEYS, WIDTH)
    everything = VIEWS["full"]
    reach = (kernel - 1) * dilation
    for is_causal, left in ((True, reach), (False, reach // 2)):
        ours = Convolution(WIDTH, kernel=kernel, dilation=dilation, causal=is_causal)
        ours.convolve.load_state_dict(theirs.state_dict())
        padded = nn.functional.pad(states.mT, (left, reach - left))
        assert_close(ours.train(training)(states, visible=everything), theirs(padded).mT, **close)


# ── norms ────────────────────────────────────────────────────────────────────────────────────────


@both_modes
def test_rms_norm_is_torchs_there_and_back(training):
    ours = shaken(norm("rms", WIDTH, biases=False)).train(training)
    states = torch.randn(BATCH, KEYS, WIDTH, requires_grad=True)
    theirs = nn.functional.rms_norm(states, (WIDTH,), ours.weight, ours.epsilon)
    same_there_and_back(ours(states), theirs, [states, ours.weight])
