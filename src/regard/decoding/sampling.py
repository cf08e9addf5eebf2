"""Sampling: draw each token from what the model holds possible.

    yₜ ~ softmax(logits / temperature), among the top_k likeliest tokens, and of these among the
    fewest that together hold the probability top_p  (Fan et al. 2018; Holtzman et al. 2020)

A row's draws depend on its generator and on nothing that happens in other rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.search import walk
from regard.decoding.steps import Answer, Limits, Steps, check_limits


class Choice(NamedTuple):
    """Among which tokens, and how evenly, to draw."""

    temperature: float = 1.0
    """Below 1 sharpens the choice, above 1 flattens it."""
    top_k: int = 0
    """Only this many likeliest tokens; 0 for all."""
    top_p: float = 1.0
    """Only the likeliest tokens that together hold this probability."""


def sample(
    steps: Steps,
    rows: int,
    *,
    limits: Limits,
    choice: Choice,
    generator: torch.Generator | Sequence[torch.Generator],
) -> list[Answer]:
    """Draw one sequence per row, from one generator or from one per row."""
    _check(choice)
    check_limits(limits, rows)
    draws = _draws(generator, limits.longest)

    def choose(log_p: Tensor, under_way: Tensor, step: int) -> Tensor:
        # On the CPU: float64 is not to be had on every device.
        return draw(log_p.cpu(), draws[under_way, step], choice=choice).to(log_p.device)

    return walk(steps, rows, limits=limits, choose=choose)


def draw(
    log_p: Float[Tensor, "row vocabulary"], draws: Float[Tensor, " row"], *, choice: Choice
) -> Int[Tensor, " row"]:
    """Turn numbers drawn evenly from [0, 1) into tokens drawn from the truncated distribution."""
    kept, tokens = truncate(log_p, choice=choice)
    reached = kept.cumsum(dim=-1)
    sought = draws[:, None].to(reached) * reached[:, -1:]
    place = torch.searchsorted(reached, sought, right=True).clamp(max=kept.shape[-1] - 1)
    return place[:, 0] if tokens is None else tokens.gather(1, place)[:, 0]


def truncate(
    log_p: Float[Tensor, "row vocabulary"], *, choice: Choice
) -> tuple[Float[Tensor, "row kept"], Int[Tensor, "row kept"] | None]:
    """Give the probabilities drawn from, zero where cut off, and their tokens (None: in order)."""
    scaled = log_p.double() / choice.temperature
    tokens = None
    if choice.top_k or choice.top_p < 1:
        count = min(choice.top_k or scaled.shape[-1], scaled.shape[-1])
        scaled, tokens = scaled.topk(count, dim=-1)
    kept = scaled.softmax(dim=-1)
    if choice.top_p < 1:
        before = kept.cumsum(dim=-1) - kept
        kept = kept.masked_fill(before >= choice.top_p, 0.0)
    return kept, tokens


def _draws(
    generator: torch.Generator | Sequence[torch.Generator], longest: Sequence[int]
) -> Float[Tensor, "row step"]:
    """One number in [0, 1) per row and step; a row's own depend on nothing but its generator."""
    if isinstance(generator, torch.Generator):
        seeds = torch.randint(2**62, (len(longest),), generator=generator, device=generator.device)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds.tolist()]
    else:
        generators = list(generator)
    if len(generators) != len(longest):
        raise ValueError(
            f"sampling takes one generator, or one per row. Got {len(generators)} generators for "
            f"{len(longest)} rows; pass a single one to serve all rows."
        )
    draws = torch.zeros(len(longest), max(longest, default=0), dtype=torch.float64)
    for row, (own, steps) in enumerate(zip(generators, longest, strict=True)):
        draws[row, :steps] = torch.rand(
            steps, generator=own, dtype=torch.float64, device=own.device
        )
    return draws


def _check(choice: Choice) -> None:
    if choice.temperature <= 0:
        raise ValueError(
            f"temperature must be above 0, because logits are divided by it. "
            f"Got {choice.temperature}; for the likeliest token each time, search greedily."
        )
    if choice.top_k < 0:
        raise ValueError(
            f"top_k counts tokens, so it cannot be negative. Got {choice.top_k}; give 0 for all."
        )
    if not 0 < choice.top_p <= 1:
        raise ValueError(
            f"top_p is a probability above 0 and at most 1. Got {choice.top_p}; give 1 for all."
        )
