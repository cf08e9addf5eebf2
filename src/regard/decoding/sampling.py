"""Sampling: draw each token from the model's distribution, truncated.

    yₜ ~ softmax(logits / temperature), restricted to the top_k likeliest tokens (Fan et al. 2018),
    then to the smallest set of them with total probability top_p (Holtzman et al. 2020)

A row's draws depend on its own generator and not on other rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.search import Observe, generate
from regard.decoding.steps import Answer, Limits, Steps, check_limits


class SamplingParameters(NamedTuple):
    """Temperature, and which tokens to draw from."""

    temperature: float = 1.0
    """Below 1 sharpens the distribution, above 1 flattens it."""
    top_k: int = 0
    """Draw from this many likeliest tokens; 0 for all."""
    top_p: float = 1.0
    """Draw from the likeliest tokens with this total probability."""


def sample(
    steps: Steps,
    rows: int,
    *,
    limits: Limits,
    parameters: SamplingParameters,
    generator: torch.Generator | Sequence[torch.Generator],
    observe: Observe | None = None,
) -> list[Answer]:
    """Draw one sequence per row, from one generator or from one per row."""
    _check(parameters)
    check_limits(limits, rows)
    draws = _draw_uniform(generator, limits.longest)

    def choose(log_p: Tensor, active: Tensor, step: int) -> Tensor:
        # On the CPU: not every device has float64.
        return draw(log_p.cpu(), draws[active, step], parameters=parameters).to(log_p.device)

    return generate(steps, rows, limits=limits, choose=choose, observe=observe)


def draw(
    log_p: Float[Tensor, "row vocabulary"],
    draws: Float[Tensor, " row"],
    *,
    parameters: SamplingParameters,
) -> Int[Tensor, " row"]:
    """Turn uniform draws from [0, 1) into tokens of the truncated distribution."""
    kept, tokens = truncate(log_p, parameters=parameters)
    reached = kept.cumsum(dim=-1)
    sought = draws[:, None].to(reached) * reached[:, -1:]
    place = torch.searchsorted(reached, sought, right=True).clamp(max=kept.shape[-1] - 1)
    return place[:, 0] if tokens is None else tokens.gather(1, place)[:, 0]


def truncate(
    log_p: Float[Tensor, "row vocabulary"], *, parameters: SamplingParameters
) -> tuple[Float[Tensor, "row kept"], Int[Tensor, "row kept"] | None]:
    """Return the truncated probabilities and the tokens they belong to (None: all, in order)."""
    scaled = log_p.double() / parameters.temperature
    tokens = None
    if parameters.top_k or parameters.top_p < 1:
        count = min(parameters.top_k or scaled.shape[-1], scaled.shape[-1])
        scaled, tokens = scaled.topk(count, dim=-1)
    kept = scaled.softmax(dim=-1)
    if parameters.top_p < 1:
        before = kept.cumsum(dim=-1) - kept
        kept = kept.masked_fill(before >= parameters.top_p, 0.0)
    return kept, tokens


def _draw_uniform(
    generator: torch.Generator | Sequence[torch.Generator], longest: Sequence[int]
) -> Float[Tensor, "row step"]:
    """Draw one number from [0, 1) per row and step, each row from its own generator."""
    if isinstance(generator, torch.Generator):
        seeds = torch.randint(2**62, (len(longest),), generator=generator, device=generator.device)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds.tolist()]
    else:
        generators = list(generator)
    if len(generators) != len(longest):
        raise ValueError(
            f"sampling takes one generator, or one per row. Got {len(generators)} generators for "
            f"{len(longest)} rows; pass a single one for all rows."
        )
    draws = torch.zeros(len(longest), max(longest, default=0), dtype=torch.float64)
    for row, (own, steps) in enumerate(zip(generators, longest, strict=True)):
        draws[row, :steps] = torch.rand(
            steps, generator=own, dtype=torch.float64, device=own.device
        )
    return draws


def _check(parameters: SamplingParameters) -> None:
    if parameters.temperature <= 0:
        raise ValueError(
            f"temperature must be above 0, because logits are divided by it. "
            f"Got {parameters.temperature}; for the likeliest token each time, use greedy search."
        )
    if parameters.top_k < 0:
        raise ValueError(
            f"top_k is a number of tokens, at least 0. Got {parameters.top_k}; give 0 for all."
        )
    if not 0 < parameters.top_p <= 1:
        raise ValueError(
            f"top_p is a probability above 0 and at most 1. Got {parameters.top_p}; give 1 for all."
        )
