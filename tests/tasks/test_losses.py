"""Cross-entropy agrees with torch's own, in value and gradient, and with its closed form."""

import math

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from regard.tasks.losses import cross_entropy, linear_cross_entropy

TOKENS, VOCABULARY = 7, 11


@pytest.fixture
def logits():
    torch.manual_seed(0)
    return torch.randn(TOKENS, VOCABULARY, dtype=torch.float64, requires_grad=True)


TARGETS = torch.arange(TOKENS)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_it_equals_torchs_own(logits, smoothing):
    theirs = functional.cross_entropy(logits, TARGETS, label_smoothing=smoothing, reduction="sum")
    (wanted,) = torch.autograd.grad(theirs, logits)
    ours = cross_entropy(logits, TARGETS, smoothing=smoothing)
    (gradient,) = torch.autograd.grad(ours.smoothed, logits)
    assert_close(ours.smoothed, theirs)
    assert_close(gradient, wanted)
    assert ours.tokens == TOKENS


def test_the_plain_loss_forgets_the_smoothing(logits):
    plain = functional.cross_entropy(logits, TARGETS, reduction="sum")
    assert cross_entropy(logits, TARGETS, smoothing=0.3).plain == pytest.approx(plain.item())


def test_its_gradient_is_right_to_second_order_differences(logits):
    assert torch.autograd.gradcheck(
        lambda x: cross_entropy(x, TARGETS, smoothing=0.1).smoothed, (logits,)
    )


@pytest.mark.parametrize(("vocabulary", "least"), [(4000, 1.154), (37000, 1.377)])
def test_the_least_smoothed_loss_is_the_entropy_of_the_target(vocabulary, least):
    smoothing = 0.1
    target = torch.full((1, vocabulary), smoothing / vocabulary, dtype=torch.float64)
    target[0, 0] += 1 - smoothing
    reached = cross_entropy(target.log(), torch.tensor([0]), smoothing=smoothing).smoothed
    assert reached.item() == pytest.approx(least, abs=5e-4)
    assert reached.item() == pytest.approx(-(target * target.log()).sum().item())
    assert not math.isclose(least, 0.0)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [3, 384], ids=["in pieces", "at once"])
def test_the_fast_way_equals_the_equation(monkeypatch, smoothing, rows):
    monkeypatch.setattr("regard.tasks.losses.ROWS", rows)
    torch.manual_seed(0)
    states = torch.randn(TOKENS, 5, dtype=torch.float64, requires_grad=True)
    matrix = torch.randn(VOCABULARY, 5, dtype=torch.float64, requires_grad=True)
    slow = cross_entropy(states @ matrix.T, TARGETS, smoothing=smoothing)
    wanted = torch.autograd.grad(slow.smoothed, (states, matrix))
    fast = linear_cross_entropy(states, matrix, TARGETS, smoothing=smoothing)
    assert_close(fast.smoothed, slow.smoothed)
    assert fast.plain == pytest.approx(slow.plain)
    assert_close(
        torch.autograd.grad(2 * fast.smoothed, (states, matrix)), tuple(2 * g for g in wanted)
    )


def test_the_fast_way_takes_no_gradient_that_nobody_wants():
    states, matrix = torch.randn(TOKENS, 5), torch.randn(VOCABULARY, 5)
    with torch.inference_mode():
        fast = linear_cross_entropy(states, matrix, TARGETS)
    assert fast.plain == pytest.approx(cross_entropy(states @ matrix.T, TARGETS).plain, rel=1e-5)
