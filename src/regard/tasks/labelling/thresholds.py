"""Thresholds of several labels: the probability above which a label is answered.

    t(label) = argmax F1(t),  F1 = 2·right / (answered + true)

The counts of a label are taken over the held-out texts. Those of all labels together are added,
scaled to ``PRIOR`` texts that have the label, so that a label which few held-out texts have gets
about the threshold that is best for all. Of equally good ones, the nearest to 1/2 is taken.
"""

import torch
from jaxtyping import Float
from torch import Tensor

GRID = 100  # thresholds are multiples of 1/GRID
PRIOR = 30.0
EVEN = 0.5


def fit_thresholds(
    probabilities: Float[Tensor, "text label"], targets: Float[Tensor, "text label"]
) -> Float[Tensor, " label"]:
    """Choose the threshold of each label on held-out texts."""
    candidates = torch.arange(1, GRID) / GRID
    candidates = candidates[(candidates - EVEN).abs().argsort(stable=True)]
    answered = (probabilities > candidates[:, None, None]).double()
    right = (answered * targets).sum(dim=1)
    found, true = answered.sum(dim=1), targets.double().sum(dim=0)
    prior = PRIOR / true.sum().clamp(min=1.0)
    right = right + prior * right.sum(dim=1, keepdim=True)
    wanted = found + true + prior * (found.sum(dim=1, keepdim=True) + true.sum())
    return candidates[(2 * right / wanted.clamp(min=1e-9)).argmax(dim=0)]
