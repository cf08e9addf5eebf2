"""Why scores are divided by the square root of the key size (D4 Q1)."""

import torch
from torch import Tensor

from regard.layers.attention import Score, dot, scaled_dot, softmax
from regard.mechanisms.mechanism import (
    Attempt,
    Chart,
    Line,
    Mechanism,
    Panel,
    Slider,
    Table,
    to_numbers,
)

QUERIES = 256
SIZES = (1, 4, 16, 64, 256, 1024)


def _weigh(score: Score, size: int, keys: int, spread: float) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    query, key = (
        spread * torch.randn(1, 1, count, size, generator=generator, dtype=torch.float64)
        for count in (QUERIES, keys)
    )
    return softmax(score(query, key), torch.ones(1, 1, 1, keys, dtype=torch.bool))[0, 0]


def _gradient(weights: Tensor) -> Tensor:
    """‖diag(p) - p·pᵀ‖ for every row: Σp² - 2Σp³ + (Σp²)²."""
    squares, cubes = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (squares - 2 * cubes + squares.square()).clamp(min=0).sqrt()


def _describe(weights: Tensor) -> list[str]:
    norms = _gradient(weights)
    return [
        f"{weights.amax(-1).mean().item():.3f}",
        f"{torch.special.entr(weights).sum(-1).mean().item():.3f}",
        f"{norms.median().item():.3f}",
        f"{(norms < 0.01).double().mean().item():.1%}",
    ]


def _compute(size: int, keys: int, spread: float) -> list[Panel]:
    scores: dict[str, Score] = {"q·k": dot, "q·k / √d": scaled_dot}
    ranks = [float(rank) for rank in range(1, keys + 1)]
    found = {name: _weigh(score, size, keys, spread) for name, score in scores.items()}
    by_size = {
        name: torch.stack([_gradient(_weigh(score, each, keys, spread)).median() for each in SIZES])
        for name, score in scores.items()
    }
    heads = ["score", "largest weight", "entropy (nats)", "gradient norm", "rows without gradient"]
    return [
        Chart(
            f"Weights of one query, largest first, d = {size}",
            "rank of the key",
            [
                Line(name, ranks, to_numbers(weights[0].sort(descending=True).values))
                for name, weights in found.items()
            ],
        ),
        Table(
            f"Means over {QUERIES} queries",
            heads,
            [[name, *_describe(weights)] for name, weights in found.items()],
            f"Uniform weights have an entropy of {torch.tensor(float(keys)).log().item():.3f}.",
        ),
        Chart(
            "Median norm of the softmax's gradient",
            "log₂ of the key size d",
            [
                Line(name, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0], to_numbers(norms))
                for name, norms in by_size.items()
            ],
            "At small sizes the unscaled softmax has the larger gradient, at large ones none.",
        ),
    ]


SCALING = Mechanism(
    _compute,
    name="scaling",
    title="Scale and saturation",
    source="D4 Q1; Vaswani et al. 2017, §3.2.1",
    equation="var(q·k) = d for independent entries of variance 1;  score = q·k / √d",
    text=(
        "The dot product of two random vectors of d entries has variance d. Without the scale, "
        "scores of a large d lie far apart, the softmax puts nearly all weight on one key, and its "
        "gradient vanishes: it is saturated.",
        "That is not numerical instability, since the softmax subtracts the largest score first. "
        "And it needs large keys: at d = 16 the unscaled softmax has the larger gradient.",
    ),
    controls=(
        Slider("size", "Key size d", 64, 1, 1024),
        Slider("keys", "Keys", 64, 2, 256),
        Slider("spread", "Standard deviation of entries", 1.0, 0.1, 3.0, 0.1),
    ),
    attempts=(
        Attempt("A large key: without the scale one key has it all.", {"size": "512"}),
        Attempt("A small key: the scale makes no difference that hurts.", {"size": "8"}),
        Attempt("Larger entries saturate the scaled softmax too.", {"spread": "3", "size": "256"}),
    ),
    claims=("variance-of-scores", "scaling-keeps-gradients", "scaling-numerical"),
    layer="layers/attention.py",
)
