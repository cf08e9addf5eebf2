"""Head masks: each head's output is multiplied by a number before the heads are concatenated.

    MultiHead = Concat(ξ₁·head₁ … ξₕ·headₕ) Wᴼ        importance(h) = E |∂loss/∂ξₕ| at ξ = 1

(Michel et al. 2019, eq. 1 and 2). The mask acts on the input of the output projection, so the
fused kernel stays in use and an unmasked model is not touched at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from regard.explain.record_attention import find_stack
from regard.layers.attention import Attention


class HeadName(NamedTuple):
    """One head of a model; layer and head are counted from 0."""

    stack: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.stack}, layer {self.layer + 1}, head {self.head + 1}"


def find_attentions(model: nn.Module) -> dict[tuple[str, int], Attention]:
    """Return the attentions of a model by stack and layer."""
    found: dict[tuple[str, int], Attention] = {}
    counts: dict[str, int] = {}
    for name, part in model.named_modules():
        if isinstance(part, Attention):
            stack = find_stack(f"{name}.weights")
            found[stack, counts.setdefault(stack, 0)] = part
            counts[stack] += 1
    return found


def list_heads(model: nn.Module) -> list[HeadName]:
    """Name every head of a model."""
    return [
        HeadName(stack, layer, head)
        for (stack, layer), part in find_attentions(model).items()
        for head in range(part.heads)
    ]


@contextmanager
def mask_heads(model: nn.Module, masks: Mapping[tuple[str, int], Tensor]) -> Iterator[None]:
    """Multiply the heads of some attentions by masks, one number for each head."""
    parts = find_attentions(model)
    hooks = [
        parts[place].to_output.register_forward_pre_hook(_multiply(mask))
        for place, mask in masks.items()
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def prune_heads(model: nn.Module, pruned: Sequence[HeadName]) -> Iterator[None]:
    """Mask these heads out."""
    masks = {
        place: torch.tensor(
            [0.0 if HeadName(*place, head) in pruned else 1.0 for head in range(part.heads)]
        )
        for place, part in find_attentions(model).items()
        if any(HeadName(*place, head) in pruned for head in range(part.heads))
    }
    with mask_heads(model, masks):
        yield


def measure_importance(model: nn.Module, losses: Iterator[Any]) -> dict[HeadName, float]:
    """Mean of |∂loss/∂ξ| over examples, scaled to one within each layer (Michel et al. 2019, §4).

    ``losses`` yields one loss at a time, computed by ``model`` when it is asked for.
    """
    parts = find_attentions(model)
    masks = {place: torch.ones(part.heads, requires_grad=True) for place, part in parts.items()}
    sums = {place: torch.zeros(part.heads) for place, part in parts.items()}
    with torch.enable_grad(), mask_heads(model, masks):
        for loss in losses:
            slopes = torch.autograd.grad(loss, list(masks.values()), allow_unused=True)
            for place, slope in zip(masks, slopes, strict=True):
                if slope is not None:
                    sums[place] += slope.abs()
    return {
        HeadName(*place, head): float(value)
        for place, total in sums.items()
        for head, value in enumerate((total / total.norm().clamp(min=1e-12)).tolist())
    }


def order_heads(
    heads: Sequence[HeadName], importance: Mapping[HeadName, float], *, seed: int | None = None
) -> list[HeadName]:
    """Order heads, the least important first; with a seed, at random."""
    if seed is None:
        return sorted(heads, key=lambda head: importance[head])
    return [heads[n] for n in np.random.default_rng(seed).permutation(len(heads))]


def _multiply(mask: Tensor) -> Any:  # noqa: ANN401 - a hook
    def hook(_part: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        joined = given[0]
        apart = joined.unflatten(-1, (len(mask), -1)) * mask.to(joined)[:, None]
        return (apart.flatten(-2), *given[1:])

    return hook
