"""Diversity penalties: how similar the attention weights of several hops over one text are.

    frobenius      ‖A·Aᵀ - I‖²           also rewards hops that attend to one word (Lin et al. 2017)
    off-diagonal   Σᵢ≠ⱼ (aᵢ·aⱼ)²         compares different hops only
    kl             -mean KL(aᵢ ‖ aⱼ)     negative divergence of different hops

KL is unbounded: a word with weight in one hop and none in another makes it infinite. So logarithms
are floored at log ε, which bounds it by log 1/ε. As a matrix product it is

    KL(aᵢ ‖ aⱼ) = Σₖ aᵢₖ log aᵢₖ - (A · log Aᵀ)ᵢⱼ

Axes: ``hop``, ``position``; padding has weight 0.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

FLOOR = 1e-6  # ε

Weights = Float[Tensor, "batch hop position"]
Penalty = Callable[[Weights], Float[Tensor, " batch"]]


def frobenius(weights: Weights) -> Float[Tensor, " batch"]:
    """‖A·Aᵀ - I‖²  (Lin et al. 2017, eq. 8)."""
    return (weights @ weights.mT - _identity(weights)).square().sum(dim=(1, 2))


def off_diagonal(weights: Weights) -> Float[Tensor, " batch"]:
    """Σᵢ≠ⱼ (aᵢ·aⱼ)²: the part of ‖A·Aᵀ - I‖² that compares different hops."""
    return (weights @ weights.mT * (1 - _identity(weights))).square().sum(dim=(1, 2))


def divergence(weights: Weights, *, floor: float = FLOOR) -> Float[Tensor, "batch hop hop"]:
    """KL(aᵢ ‖ aⱼ) of all pairs, logarithms floored; at most log 1/floor."""
    logs = weights.clamp(min=floor).log()
    own = (weights * logs).sum(dim=2, keepdim=True)
    return own - weights @ logs.mT


def kl(weights: Weights) -> Float[Tensor, " batch"]:
    """Negative mean divergence over all pairs of different hops."""
    hops = weights.shape[1]
    return -divergence(weights).sum(dim=(1, 2)) / max(hops * (hops - 1), 1)


def none(weights: Weights) -> Float[Tensor, " batch"]:
    """No penalty."""
    return weights.new_zeros(len(weights))


PENALTIES: dict[str, Penalty] = {
    "none": none,
    "frobenius": frobenius,
    "off-diagonal": off_diagonal,
    "kl": kl,
}


def overlap(weights: Weights) -> Float[Tensor, "batch hop hop"]:
    """Σₖ min(aᵢₖ, aⱼₖ): the weight that two hops give to the same words, from 0 to 1."""
    return torch.minimum(weights[:, :, None], weights[:, None]).sum(dim=3)


def mean_overlap(weights: Weights) -> Float[Tensor, " batch"]:
    """Return the mean overlap of all pairs of different hops; 0 for a single hop."""
    hops = weights.shape[1]
    pairs = overlap(weights) * (1 - _identity(weights))
    return pairs.sum(dim=(1, 2)) / max(hops * (hops - 1), 1)


def _identity(weights: Weights) -> Float[Tensor, "hop hop"]:
    return torch.eye(weights.shape[1], dtype=weights.dtype, device=weights.device)
