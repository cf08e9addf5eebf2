"""Sinusoids, and the operator that shifts them (D0 Q4)."""

import torch

from regard.layers.position import Learned, Sinusoidal, shift_operator
from regard.mechanisms.mechanism import (
    Attempt,
    Chart,
    Choice,
    Line,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    number_names,
    to_numbers,
    to_rows,
)

SHOWN = 32  # positions in the picture


def _compute(width: int, shift: int, position: int, table: str) -> list[Panel]:
    count = SHOWN + 64
    scheme = Sinusoidal(width) if table == "sinusoids" else Learned(count, width)
    vectors = scheme(count).double()
    operator = shift_operator(shift, width).double()
    moved, wanted = vectors[:SHOWN] @ operator.T, vectors[shift : shift + SHOWN]
    features = number_names(width)
    error = (moved - wanted).abs().max().item()
    products = vectors[:SHOWN] @ vectors[:SHOWN].T
    along = (vectors[:SHOWN] * wanted).sum(dim=1)
    places = [float(place) for place in range(SHOWN)]
    return [
        Matrix(
            "e(t)",
            to_rows(vectors[:SHOWN]),
            number_names(SHOWN),
            features,
            "A row is a position, a column a feature: sine and cosine of one frequency in turn.",
            signed=True,
        ),
        Matrix(
            f"T({shift})",
            to_rows(operator),
            features,
            features,
            "Pairs of features are rotated; the matrix does not depend on t.",
            signed=True,
        ),
        Matrix(
            f"T({shift}) e({position}) above e({position} + {shift})",
            to_rows(torch.stack([moved[position], wanted[position]])),
            ["T e(t)", "e(t + k)"],
            features,
            f"Largest difference over {SHOWN} positions: {error:.1e}.",
            signed=True,
        ),
        Chart(
            "Inner products",
            "position s",
            [
                Line(f"e({position})·e(s)", places, to_numbers(products[position])),
                Line(f"e(s)·e(s + {shift})", places, to_numbers(along)),
            ],
            "The second is constant for sinusoids: it depends on the distance alone.",
        ),
    ]


SINUSOIDS = Mechanism(
    _compute,
    name="sinusoids",
    title="Sinusoids and the shift operator",
    source="D0 Q4; Vaswani et al. 2017, §3.5",
    equation="e(t) = [sin λₘt, cos λₘt],  λₘ = 10000^(-2m/d);  T(k) e(t) = e(t + k)",
    text=(
        "Attention does not know the order of its inputs. Sinusoids give each position a vector of "
        "its own: fast waves tell neighbours apart, slow ones distant places.",
        "For every distance k there is one matrix T(k) that takes the vector of any position t to "
        "that of t + k. A layer could learn it, and with it attend to the word k places away. A "
        "table of learned vectors has no such matrix.",
    ),
    controls=(
        Slider("shift", "Shift k", 5, 0, 64),
        Slider("position", "Position t", 8, 0, SHOWN - 1),
        Slider("width", "Width d", 32, 4, 64, 4),
        Choice("table", "Vectors", "sinusoids", ("sinusoids", "learned table")),
    ),
    attempts=(
        Attempt("No shift: T(0) is the identity.", {"shift": "0"}),
        Attempt("Slide k and watch the pairs rotate, the fast ones first.", {"shift": "17"}),
        Attempt("A learned table, before training: T(k) does not fit.", {"table": "learned table"}),
    ),
    claims=(
        "shift-operator",
        "learned-table-has-no-shift",
        "sinusoid-product",
        "sinusoid-notation",
    ),
    layer="layers/position.py",
)
