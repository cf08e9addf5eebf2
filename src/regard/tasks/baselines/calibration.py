"""Platt scaling: how far to believe logits, fitted on texts that were not learned from.

    logit' = a·logit + b
    a, b   = argmin  Σ over held-out texts of cross entropy + ln² a + ‖b‖²

The labels of n texts count as (n·label + 2·uniform) / (n + 2), so that no answer is ever certain
(Platt 1999).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.tasks.baselines.lbfgs import descend
from regard.tasks.baselines.logistic_regression import cross_entropy

ROUNDS, FLAT = 100, 1e-4


class Calibration(NamedTuple):
    """A scale, a bias for each column, and the cross entropy they leave."""

    scale: float
    biases: Tensor
    loss: float


def calibrate(logits: Tensor, targets: Tensor, *, exclusive: bool) -> Calibration:
    """Find the scale and the biases by which logits fit the targets."""

    def objective(found: Tensor) -> tuple[float, Tensor]:
        scaled = found[0].exp() * logits
        lost, errors = cross_entropy(scaled + found[1:], smooth, exclusive=exclusive)
        gradient = torch.cat([(errors * scaled).sum()[None], errors.sum(dim=0)])
        return float(lost + found.square().sum()), gradient + 2 * found

    logits, smooth = logits.double(), smoothed(targets.double(), exclusive=exclusive)
    found = descend(objective, logits.new_zeros(1 + logits.shape[1]), rounds=ROUNDS, flat=FLAT)
    return Calibration(float(found[0].exp()), found[1:].float(), objective(found)[0])


def smoothed(targets: Tensor, *, exclusive: bool) -> Tensor:
    """Add two texts of unknown label: what was always right so far need not be the next time."""
    uniform = 1 / targets.shape[1] if exclusive and targets.shape[1] > 1 else 0.5
    return (len(targets) * targets + 2 * uniform) / (len(targets) + 2)
