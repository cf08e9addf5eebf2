"""Masks, and what leaks through wrong ones (D0 Q5, D3 Q1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.layers.attention import softmax
from regard.layers.visibility import causal, local, padding
from regard.mechanisms.mechanism import (
    Attempt,
    Choice,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
    number_names,
    to_rows,
)

MINUS, ZERO, AFTER, RENORMALISED = (
    "scores to -∞",
    "scores to 0",
    "weights to 0",
    "weights to 0, renormalised",
)


def zero_scores(scores: Tensor, visible: Tensor) -> Tensor:
    """Set hidden scores to 0 and take the softmax of all: the document, taken literally."""
    return softmax(scores.masked_fill(~visible, 0.0), torch.ones_like(visible))


def zero_weights(scores: Tensor, visible: Tensor) -> Tensor:
    """Take the softmax of all and set hidden weights to 0."""
    return softmax(scores, torch.ones_like(visible)) * visible


def renormalise(scores: Tensor, visible: Tensor) -> Tensor:
    """Set hidden weights to 0 and renormalise the rest."""
    weights = zero_weights(scores, visible)
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)


METHODS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    MINUS: softmax,
    ZERO: zero_scores,
    AFTER: zero_weights,
    RENORMALISED: renormalise,
}


def _compute(length: int, hides_future: bool, padded: int, window: int, method: str) -> list[Panel]:
    scores = torch.randn(1, 1, length, length, dtype=torch.float64)
    visible = torch.ones(1, 1, length, length, dtype=torch.bool)
    if hides_future:
        visible = visible & causal(length, length)
    if padded:
        visible = visible & padding(torch.tensor([max(1, length - padded)]), length)
    if window:
        visible = visible & local(length, length, window)
    weights = METHODS[method](scores, visible)
    exact = softmax(scores, visible)
    leak = (weights * ~visible).sum(dim=-1).mean().item()
    names = number_names(length, first=1)
    seen = visible[0, 0]
    return [
        Matrix(
            "Visible",
            to_rows(seen.double()),
            names,
            names,
            "A row is a query; a filled cell is a key that it may attend to. Masks are combined "
            "with and.",
        ),
        Matrix("Weights", to_rows(weights[0, 0]), names, names, f"Hidden by: {method}."),
        Table(
            "Does it hide?",
            ["figure", "value"],
            [
                ["attention on hidden keys (mean of rows)", f"{leak:.1%}"],
                ["mean sum of a row", f"{weights.sum(dim=-1).mean().item():.3f}"],
                ["largest difference from -∞", f"{(weights - exact).abs().max().item():.1e}"],
                ["queries that see nothing", str(int((~seen.any(dim=-1)).sum()))],
            ],
        ),
    ]


MASKS = Mechanism(
    _compute,
    name="masks",
    title="Masks",
    source="D0 Q5, D3 Q1; Vaswani et al. 2017, §3.2.3",
    equation="weights = softmax(scores + mask),  mask = 0 where visible, else -∞",
    text=(
        "A decoder must not see the words that it is to predict: the causal mask hides later keys. "
        "Texts of a batch are padded to one length: the padding mask hides what is no text. A "
        "window hides what is far away. They are different masks, and they combine.",
        "How to hide matters. A score of 0 is an average score, not a forbidden one: exp 0 = 1. "
        "Weights set to 0 after the softmax still have the hidden keys in their denominator.",
    ),
    controls=(
        Slider("length", "Length", 12, 2, 40),
        Switch("hides_future", "Causal", True),
        Slider("padded", "Positions of padding", 0, 0, 12),
        Slider("window", "Window (0 for none)", 0, 0, 12),
        Choice("method", "Hide by", MINUS, tuple(METHODS)),
    ),
    attempts=(
        Attempt("Set scores to 0, as D3 says: see the leak.", {"method": ZERO, "length": "40"}),
        Attempt("Set weights to 0: rows no longer sum to 1.", {"method": AFTER}),
        Attempt("Padding alone hides no future.", {"hides_future": "off", "padded": "4"}),
        Attempt("A causal window of 2.", {"window": "2"}),
    ),
    claims=(
        *("mask-minus-infinity", "mask-zero-scores", "mask-zero-weights"),
        *("mask-zero-weights-renormalised", "padding-is-not-causality", "shift-by-one"),
    ),
    layer="layers/visibility.py",
)
