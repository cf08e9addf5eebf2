"""A mixer is a mixer: one set of promises for attention, recurrence and convolution of every kind.

Shape kept; padding not felt; when causal, the future not felt; a step at a time equals all at once.
Felt means: the derivative is not exactly zero. Sizes differ, so that no swapped axis passes.
"""

from contextlib import nullcontext

import pytest
import torch
from torch.autograd.functional import jacobian
from torch.testing import assert_close

from regard.layers.attention import (
    Additive,
    Attention,
    Equation,
    PositionScheme,
    Projections,
    argmax,
    dot,
    log_length,
    scaled_dot,
    softmax,
)
from regard.layers.convolution import Convolution
from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable
from regard.layers.memory import Memory
from regard.layers.position import Rotary
from regard.layers.recurrent import Recurrent
from regard.layers.tap import listen
from regard.layers.visibility import causal, every, padding, within

BATCH, POSITIONS, HEADS, FEATURES = 2, 7, 3, 4
WIDTH = HEADS * FEATURES
LENGTHS = torch.tensor([7, 4])
VISIBLE = padding(LENGTHS, POSITIONS)


def attention(is_causal, *, window=None, **parts):
    rules = ([causal] if is_causal else []) + ([within(window)] if window else [])
    return Attention(WIDTH, HEADS, rule=every(*rules) if rules else None, **parts)


MIXERS = {
    "scaled dot": lambda c: attention(c),
    "dot": lambda c: attention(c, equation=Equation(dot)),
    "additive": lambda c: attention(c, equation=Equation(Additive(HEADS, FEATURES))),
    "scaled dot, argmax": lambda c: attention(c, equation=Equation(scaled_dot, argmax)),
    "dot, argmax": lambda c: attention(c, equation=Equation(dot, argmax)),
    "additive, argmax": lambda c: attention(
        c, equation=Equation(Additive(HEADS, FEATURES), argmax)
    ),
    "scaled dot, log-length": lambda c: attention(c, equation=Equation(scaled_dot, log_length)),
    "window": lambda c: attention(c, window=2),
    "additive, window": lambda c: attention(
        c, window=2, equation=Equation(Additive(HEADS, FEATURES), softmax)
    ),
    "biases, normed": lambda c: attention(c, projections=Projections(biases=True, normed=True)),
    "rotary": lambda c: attention(c, place=PositionScheme(rotary=Rotary(FEATURES))),
    "relative table": lambda c: attention(
        c, place=PositionScheme(bias=RelativeTable(HEADS, POSITIONS))
    ),
    "relative buckets": lambda c: attention(
        c, place=PositionScheme(bias=RelativeBuckets(HEADS, buckets=4, farthest=5, causal=c))
    ),
    "alibi": lambda c: attention(c, place=PositionScheme(bias=Alibi(HEADS, causal=c))),
    "gru": lambda c: Recurrent(WIDTH, cell="gru", causal=c),
    "lstm": lambda c: Recurrent(WIDTH, cell="lstm", causal=c),
    "convolution": lambda c: Convolution(WIDTH, kernel=3, causal=c),
    "even convolution": lambda c: Convolution(WIDTH, kernel=2, causal=c),
    "pointwise convolution": lambda c: Convolution(WIDTH, kernel=1, causal=c),
    "dilated convolution": lambda c: Convolution(WIDTH, kernel=3, dilation=2, causal=c),
}
DEAF = {"pointwise convolution"}
"""Mixers without exchange between positions, so that no future can leak."""

every_mixer = pytest.mark.parametrize("name", MIXERS)
symmetric = pytest.mark.parametrize("is_causal", [True, False], ids=["causal", "free"])


def build(name, is_causal):
    torch.manual_seed(0)
    mixer = MIXERS[name](is_causal).double()
    for weight in mixer.parameters():
        weight.data.normal_(std=0.5)  # tables begin at zero, which would hide what they do
    return mixer, torch.randn(BATCH, POSITIONS, WIDTH, dtype=torch.float64)


def felt(mixer, states, visible=VISIBLE):
    """Return which input positions each output position feels: (batch, out, batch, in)."""
    derivative = jacobian(lambda given: mixer(given, visible=visible), states)
    return (derivative != 0).any(dim=5).any(dim=2)


@every_mixer
@symmetric
def test_a_mixer_keeps_the_shape(name, is_causal):
    mixer, states = build(name, is_causal)
    assert mixer(states, visible=VISIBLE).shape == states.shape


@every_mixer
@symmetric
def test_no_real_position_feels_padding_or_another_row(name, is_causal):
    mixer, states = build(name, is_causal)
    feels = felt(mixer, states)
    assert not feels[0, :, 1].any() and not feels[1, :, 0].any()
    assert not feels[1, :4, 1, 4:].any()
    assert feels[0, :, 0].any() and feels[1, :4, 1, :4].any()


@every_mixer
@symmetric
def test_the_future_is_felt_exactly_when_the_mixer_is_free(name, is_causal):
    mixer, states = build(name, is_causal)
    feels = felt(mixer, states)[0, :, 0]
    ahead = feels & torch.ones(POSITIONS, POSITIONS).triu(1).bool()
    assert ahead.any() == (not is_causal and name not in DEAF)


@every_mixer
@symmetric
def test_changing_what_is_hidden_changes_not_a_bit(name, is_causal):
    mixer, states = build(name, is_causal)
    before = mixer(states, visible=VISIBLE)[1, :4]
    states[1, 4:] = 1e3
    assert_close(mixer(states, visible=VISIBLE)[1, :4], before, rtol=0, atol=0)


@every_mixer
@pytest.mark.parametrize("chunks", [[1] * 7, [3, 1, 2, 1], [1, 6], [7]], ids=str)
def test_a_few_positions_at_a_time_with_memory_equal_all_at_once(name, chunks):
    mixer, states = build(name, True)
    memory, parts, end = Memory(), [], 0
    for chunk in states.split(chunks, dim=1):
        end += chunk.shape[1]
        parts.append(mixer(chunk, visible=VISIBLE[..., :end], memory=memory))
    assert memory.positions == POSITIONS
    whole = mixer(states, visible=VISIBLE)
    assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-10)


@every_mixer
def test_memory_continues_with_the_selected_rows(name):
    mixer, states = build(name, True)
    memory, rows = Memory(), torch.tensor([1, 0, 1])
    visible = padding(torch.tensor([POSITIONS]), POSITIONS)
    mixer(states[:, :3], visible=visible[..., :3], memory=memory)
    memory.keep(rows)
    after = mixer(states[rows, 3:], visible=visible, memory=memory)
    whole = mixer(states[rows], visible=visible)
    assert_close(after, whole[:, 3:], rtol=0, atol=1e-10)


@every_mixer
@symmetric
@pytest.mark.parametrize("listening", [False, True], ids=["unheard", "recorded"])
def test_a_row_that_may_see_nothing_makes_no_nan_there_or_back(name, is_causal, listening):
    mixer, states = build(name, is_causal)
    states.requires_grad_()
    visible = padding(torch.tensor([POSITIONS, 0]), POSITIONS)
    with listen(mixer) if listening else nullcontext():
        mixed = mixer(states, visible=visible)
        mixed.square().sum().backward()
    assert mixed.isfinite().all() and states.grad.isfinite().all()
    assert all(w.grad.isfinite().all() for w in mixer.parameters() if w.grad is not None)


@every_mixer
@symmetric
def test_every_weight_of_a_mixer_learns(name, is_causal):
    mixer, states = build(name, is_causal)
    mixer(states, visible=VISIBLE).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in mixer.parameters())


@every_mixer
@symmetric
def test_a_mixer_without_dropout_is_the_same_in_training_and_after(name, is_causal):
    mixer, states = build(name, is_causal)
    trained = mixer.train()(states, visible=VISIBLE)
    assert_close(trained, mixer.eval()(states, visible=VISIBLE), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in MIXERS if "argmax" not in name])
@symmetric
def test_a_mixer_works_in_half_precision_as_autocast_runs_it(name, is_causal):
    mixer, states = build(name, is_causal)
    expected = mixer(states, visible=VISIBLE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = mixer.float()(states.float().requires_grad_(), visible=VISIBLE)
        mixed.float().square().sum().backward()
    assert_close(mixed.double(), expected, rtol=0.1, atol=0.1 * expected.abs().max().item())
