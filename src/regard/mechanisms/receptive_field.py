"""Receptive fields of argmax attention, growing layer by layer (D2 e)."""

import torch
from torch import Tensor

from regard.layers.attention import argmax, softmax
from regard.mechanisms.mechanism import (
    Attempt,
    Chart,
    Choice,
    Line,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
    number_names,
    to_rows,
)

LEVELS = 4


def _point(length: int, heads: int, distance: int, pointers: str, hides_future: bool) -> Tensor:
    """Return the position that each head of each query attends to."""
    here = torch.arange(length)
    if pointers == "random":
        span = here + 1 if hides_future else torch.full((length,), length)
        return (torch.rand(heads, length) * span).long()
    steps = torch.arange(1, heads + 1)[:, None] * distance
    targets = here - steps
    return targets.clamp(min=0) if hides_future else targets % length


def _reach(targets: Tensor, residual: bool) -> Tensor:
    """Return which inputs of a layer each output depends on, by the weights of argmax."""
    length = targets.shape[1]
    scores = torch.nn.functional.one_hot(targets, length).double()[None]
    weights = argmax(scores, torch.ones(1, 1, 1, length, dtype=torch.bool))[0]
    return (weights > 0).any(dim=0) | (torch.eye(length, dtype=torch.bool) & residual)


def _compute(
    length: int, heads: int, residual: bool, hides_future: bool, pointers: str
) -> list[Panel]:
    reached, node = torch.eye(length, dtype=torch.bool), length - 1
    fields, counts = [reached[node]], [1]
    for level in range(LEVELS):
        distance = (heads + residual) ** level  # so that no two paths meet
        step = _reach(_point(length, heads, distance, pointers, hides_future), residual)
        reached = (step.double() @ reached.double()) > 0
        fields.append(reached[node])
        counts.append(int(reached[node].sum()))
    levels = number_names(LEVELS + 1)
    formula = [min((heads + residual) ** level, length) for level in range(LEVELS + 1)]
    scores = torch.randn(1, 1, 3, 12)
    open_mask = torch.ones(1, 1, 1, 12, dtype=torch.bool)
    rows = torch.cat(
        [part[0, 0] for part in (softmax(scores, open_mask), argmax(scores, open_mask))]
    )
    return [
        Matrix(
            f"Inputs that the last node depends on, level by level ({length} positions)",
            to_rows(torch.stack(fields).double()),
            [f"level {level}" for level in levels],
            number_names(length),
            "Level 0 is the input. Dependence is a nonzero derivative: the values that arrive.",
        ),
        Chart(
            "Size of the receptive field",
            "level",
            [
                Line("counted", [float(n) for n in range(LEVELS + 1)], [float(n) for n in counts]),
                Line(
                    f"min(({heads}{' + 1' if residual else ''})ⁿ, T)",
                    [float(n) for n in range(LEVELS + 1)],
                    [float(n) for n in formula],
                ),
            ],
        ),
        Matrix(
            "Softmax and argmax of the same scores",
            to_rows(rows),
            [*(f"softmax {n}" for n in "abc"), *(f"argmax {n}" for n in "abc")],
            number_names(12),
            "Softmax gives every key some weight, so one layer reaches everything.",
        ),
        Table(
            "By formula",
            ["", "one head", "two heads", "k heads"],
            [["without residual", "1", "2ⁿ", "kⁿ"], ["with residual", "2ⁿ", "3ⁿ", "(k + 1)ⁿ"]],
            "Never more than the length T.",
        ),
    ]


RECEPTIVE_FIELD = Mechanism(
    _compute,
    name="receptive-field",
    title="Softmax against argmax, and receptive fields",
    source="D2 e",
    equation="k heads: kⁿ inputs at level n, with residual connections (k + 1)ⁿ, at most T",
    text=(
        "If attention takes the best key alone (argmax), a head brings the value of one position "
        "and nothing else. How many inputs can a node then depend on, n layers up? One head "
        "without residual connections is a chain of pointers: one input. With a residual "
        "connection a node keeps itself as well, and the number doubles.",
        "Which key wins still depends on all of them: only the values of a few arrive.",
    ),
    controls=(
        Slider("heads", "Heads k", 2, 1, 4),
        Switch("residual", "Residual connections", True),
        Slider("length", "Positions T", 96, 8, 128, 8),
        Switch("hides_future", "Causal", True),
        Choice("pointers", "Heads point", "apart", ("apart", "random")),
    ),
    attempts=(
        Attempt("One head, no residual: a chain.", {"heads": "1", "residual": "off"}),
        Attempt("One head with residual: 2ⁿ.", {"heads": "1"}),
        Attempt("Random pointers meet, and give less.", {"pointers": "random", "heads": "4"}),
    ),
    claims=("argmax-field", "argmax-field-residual", "argmax-depends-on-one"),
    layer="layers/attention.py",
)
