"""Cross-entropy agrees with torch's own, in value and gradient, and with its closed form."""

import math

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from regard.models.heads import TokenHead
from regard.tasks.losses import cross_entropy, head_loss, linear_cross_entropy

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


SHARES = torch.tensor([0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.02], dtype=torch.float64)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("soft_cap", [0.0, 3.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_sampled_softmax_weights_rare_rows_higher(bias, soft_cap, smoothing):
    torch.manual_seed(0)
    head = TokenHead(5, len(SHARES), bias=bias, soft_cap=soft_cap).double()
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter)
    states, targets = torch.randn(4, 5, dtype=torch.float64), torch.tensor([5, 1, 5, 3])
    result = [1, 3, 5]
    included = 1 - (1 - SHARES[result]) ** len(targets)
    logits = head.logits(states)[:, result] - included.log()
    slow = cross_entropy(logits, torch.tensor([2, 0, 2, 1]), smoothing=smoothing)
    fast = head_loss(head, states, targets, smoothing=smoothing, shares=SHARES)
    assert_close(fast.smoothed, slow.smoothed)
    assert fast.tokens == len(targets)
    parameters = list(head.parameters())
    assert_close(
        torch.autograd.grad(fast.smoothed, parameters),
        torch.autograd.grad(slow.smoothed, parameters),
    )


def test_the_sum_over_a_steps_tokens_is_on_average_that_over_all():
    """Draw many steps: each loss tells the sum that its step saw."""
    torch.manual_seed(0)
    head, targets_of_a_step = TokenHead(5, len(SHARES)).double(), 11
    state = torch.randn(1, 5, dtype=torch.float64)
    logits = head.logits(state)[0].detach()
    result = logits - (1 - (1 - SHARES) ** targets_of_a_step).log()
    sums = []
    for _ in range(3000):
        targets = torch.multinomial(SHARES, targets_of_a_step, replacement=True)
        lost = head_loss(head, state.expand(len(targets), -1), targets, shares=SHARES).plain
        sums.append(math.exp((lost + result[targets].sum().item()) / len(targets)))
    seen = torch.tensor(sums, dtype=torch.float64)
    error = seen.std().item() / math.sqrt(len(seen))
    assert seen.mean().item() == pytest.approx(logits.exp().sum().item(), abs=4 * error)
    assert 0 < error < 0.02 * seen.mean().item()
