import pytest
import torch
from torch import nn
from torch.testing import assert_close

from regard.layers.attention import Attention
from regard.layers.block import Block, BlockMemory, Residual
from regard.layers.dropout import keyed
from regard.layers.feed_forward import FeedForward
from regard.layers.norm import norm
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import causal, padding

BATCH, HEADS, FEATURES, INNER, POSITIONS, SOURCE = 2, 3, 5, 23, 7, 11
WIDTH = HEADS * FEATURES
VISIBLE = padding(torch.tensor([7, 4]), POSITIONS)
SOURCE_VISIBLE = padding(torch.tensor([8, 11]), SOURCE)


def block(*, order="pre", crosses=True, mixer=None, dropout=0.0):
    torch.manual_seed(0)
    return Block(
        mixer or Attention(WIDTH, HEADS, rule=causal),
        FeedForward(WIDTH, INNER),
        norms=lambda: norm("rms", WIDTH, biases=False),
        order=order,
        dropout=dropout,
        cross=Attention(WIDTH, HEADS) if crosses else None,
    ).double()


def states(positions=POSITIONS):
    torch.manual_seed(positions)
    return torch.randn(BATCH, positions, WIDTH, dtype=torch.float64)


def test_pre_norm_norms_what_enters_the_part_and_leaves_the_sum_alone():
    part, given = nn.Linear(WIDTH, WIDTH).double(), states()
    normed = nn.LayerNorm(WIDTH).double()
    residual = Residual(part, normed, order="pre")
    assert_close(residual(given), given + part(normed(given)))


def test_post_norm_norms_the_sum():
    part, given = nn.Linear(WIDTH, WIDTH).double(), states()
    normed = nn.LayerNorm(WIDTH).double()
    residual = Residual(part, normed, order="post")
    assert_close(residual(given), normed(given + part(given)))


@pytest.mark.parametrize("order", ["pre", "post"])
def test_only_the_answer_of_the_part_is_dropped(order):
    part, given = nn.Linear(WIDTH, WIDTH).double(), states()
    residual = Residual(part, nn.Identity(), order=order, dropout=0.5)
    with keyed(1):
        added = residual(given) - given
    assert_close(added, torch.where(added.abs() < 1e-12, 0, 2 * part(given)))
    assert 0.3 < (added.abs() < 1e-12).double().mean() < 0.7


@pytest.mark.parametrize("order", ["pre", "post"])
def test_a_block_mixes_attends_to_the_context_and_feeds_forward_in_this_order(order):
    layer, given, context = block(order=order), states(), states(SOURCE)
    expected = layer.mixer(given, visible=VISIBLE)
    expected = layer.cross(expected, context, visible=SOURCE_VISIBLE)
    expected = layer.feed_forward(expected)
    ours = layer(given, visible=VISIBLE, context=context, context_visible=SOURCE_VISIBLE)
    assert_close(ours, expected)


def test_every_part_has_a_norm_of_its_own():
    layer = block()
    norms = {id(part.norm) for part in (layer.mixer, layer.cross, layer.feed_forward)}
    assert len(norms) == 3
    assert block(crosses=False).cross is None


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("mixer", ["attention", "gru"])
def test_a_block_a_step_at_a_time_equals_all_at_once(order, mixer):
    own = Recurrent(WIDTH, causal=True) if mixer == "gru" else None
    layer, given, context = block(order=order, mixer=own), states(), states(SOURCE)
    memory, parts = BlockMemory(), []
    into = {"context": context, "context_visible": SOURCE_VISIBLE}
    for end in range(1, POSITIONS + 1):
        newest, seen = given[:, end - 1 : end], VISIBLE[..., :end]
        into["context"] = context if end == 1 else None
        parts.append(layer(newest, visible=seen, memory=memory, **into))
    into["context"] = context
    whole = layer(given, visible=VISIBLE, **into)
    assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-10)


def test_a_block_continues_the_rows_its_memory_keeps():
    layer, given, context = block(), states(), states(SOURCE)
    memory, rows = BlockMemory(), torch.tensor([1, 1, 0])
    everything = torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    into = {"context": context, "context_visible": SOURCE_VISIBLE}
    layer(given[:, :3], visible=everything[..., :3], memory=memory, **into)
    memory.keep(rows)
    into = {"context": context[rows], "context_visible": SOURCE_VISIBLE[rows]}
    after = layer(given[rows, 3:], visible=everything, memory=memory, **into)
    whole = layer(given[rows], visible=everything, **into)
    assert_close(after, whole[:, 3:], rtol=0, atol=1e-10)
