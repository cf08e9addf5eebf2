"""Diversity: how much several looks at one text are alike, as something to be made small.

    frobenius      ‖A·Aᵀ - I‖²           also wants every look to rest on one word (Lin et al. 2017)
    off-diagonal   Σᵢ≠ⱼ (aᵢ·aⱼ)²         looks apart, as wide as they like
    kl             -mean KL(aᵢ ‖ aⱼ)     looks apart, measured by what one tells about the other

KL is to be made large and has no upper end: a word that one look sees and another does not makes it
infinite. So logarithms are floored at log ε, and it ends at log 1/ε. In matmul form it is

    KL(aᵢ ‖ aⱼ) = Σₖ aᵢₖ log aᵢₖ - (A · log Aᵀ)ᵢⱼ

one product, as large as A·Aᵀ. Axes: ``hop`` (a look), ``position`` (a word); padding weighs 0.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

FLOOR = 1e-6  # ε

Looks = Float[Tensor, "batch hop position"]
Penalty = Callable[[Looks], Float[Tensor, " batch"]]


def frobenius(looks: Looks) -> Float[Tensor, " batch"]:
    """‖A·Aᵀ - I‖²  (Lin et al. 2017, eq. 8)."""
    return (looks @ looks.mT - _identity(looks)).square().sum(dim=(1, 2))


def off_diagonal(looks: Looks) -> Float[Tensor, " batch"]:
    """Σᵢ≠ⱼ (aᵢ·aⱼ)²: the part of ‖A·Aᵀ - I‖² that compares different looks."""
    return (looks @ looks.mT * (1 - _identity(looks))).square().sum(dim=(1, 2))


def divergence(looks: Looks, *, floor: float = FLOOR) -> Float[Tensor, "batch hop hop"]:
    """KL(aᵢ ‖ aⱼ) of all pairs, logarithms floored; at most log 1/floor."""
    logs = looks.clamp(min=floor).log()
    own = (looks * logs).sum(dim=2, keepdim=True)
    return own - looks @ logs.mT


def kl(looks: Looks) -> Float[Tensor, " batch"]:
    """Mean divergence over all pairs of different looks, negative."""
    hops = looks.shape[1]
    return -divergence(looks).sum(dim=(1, 2)) / max(hops * (hops - 1), 1)


def none(looks: Looks) -> Float[Tensor, " batch"]:
    """Nothing is asked of the looks."""
    return looks.new_zeros(len(looks))


PENALTIES: dict[str, Penalty] = {
    "none": none,
    "frobenius": frobenius,
    "off-diagonal": off_diagonal,
    "kl": kl,
}


def overlap(looks: Looks) -> Float[Tensor, "batch hop hop"]:
    """Σₖ min(aᵢₖ, aⱼₖ): the share of two looks that rests on the same words, from 0 to 1."""
    return torch.minimum(looks[:, :, None], looks[:, None]).sum(dim=3)


def mean_overlap(looks: Looks) -> Float[Tensor, " batch"]:
    """Average over all pairs of different looks; 0 of a single one."""
    hops = looks.shape[1]
    apart = overlap(looks) * (1 - _identity(looks))
    return apart.sum(dim=(1, 2)) / max(hops * (hops - 1), 1)


def _identity(looks: Looks) -> Float[Tensor, "hop hop"]:
    return torch.eye(looks.shape[1], dtype=looks.dtype, device=looks.device)
