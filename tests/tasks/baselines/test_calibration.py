"""Platt scaling: scale and biases against those by which labels were drawn, and against autograd."""

import numpy as np
import pytest
import torch

from regard.tasks.baselines.calibration import calibrate

RANDOM = np.random.default_rng(3)


def test_scale_and_bias_are_those_by_which_labels_were_drawn():
    logits = torch.from_numpy(RANDOM.normal(size=(40_009, 1)))
    true = (torch.from_numpy(RANDOM.random((40_009, 1))) < (1.9 * logits + 0.7).sigmoid()).double()
    scale, biases, _ = calibrate(logits, true, exclusive=True)
    assert scale == pytest.approx(1.9, abs=0.06) and biases.item() == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize(("columns", "exclusive"), [(1, True), (3, True), (3, False), (1, False)])
def test_the_minimum_is_found(columns, exclusive):
    logits = torch.from_numpy(RANDOM.normal(size=(211, columns)))
    true = torch.from_numpy(RANDOM.random((211, columns)))
    if exclusive and columns > 1:
        true = true / true.sum(dim=1, keepdim=True)
    scale, biases, lowest = calibrate(logits, true, exclusive=exclusive)
    found = torch.cat([torch.tensor([scale]).log().double(), biases.double()]).requires_grad_()
    uniform = 1 / 3 if exclusive and columns == 3 else 1 / 2
    true = true * 211 / 213 + uniform * 2 / 213
    scaled = found[0].exp() * logits + found[1:]
    if exclusive and columns > 1:
        lost = torch.nn.functional.cross_entropy(scaled, true, reduction="sum")
    else:
        lost = torch.nn.functional.binary_cross_entropy_with_logits(scaled, true, reduction="sum")
    (lost + found.square().sum()).backward()
    assert found.grad.abs().max() < 0.02
    assert lowest == pytest.approx((lost + found.square().sum()).item(), rel=1e-6)


def test_what_was_always_right_is_not_certain():
    true = torch.tensor([[n % 2] for n in range(100)]).float()
    scale, biases, _ = calibrate(2 * true - 1, true, exclusive=True)
    assert 3 < scale + biases.item() < 5  # 51 of 52 would be right: a logit of 3.9
