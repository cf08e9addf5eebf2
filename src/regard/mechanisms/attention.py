"""Attention over another sequence, and over itself (D0 Q1, D4 Q3)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.layers.attention import argmax, attend, dot, scaled_dot, softmax
from regard.mechanisms.mechanism import (
    Attempt,
    Choice,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Words,
    to_rows,
)

ENTRIES = 8  # features shown of a vector


def make_vectors(words: Sequence[str], width: int) -> Tensor:
    """Draw a vector for each word; equal words have equal ones."""
    vectors = []
    for word in words:
        generator = torch.Generator().manual_seed(int.from_bytes(word.encode()[-7:]))
        vectors.append(torch.randn(width, generator=generator))
    return torch.stack(vectors)


def _compute(
    source: list[str], target: list[str], itself: bool, width: int, select: str, scaled: bool
) -> list[Panel]:
    reading = target if itself else source
    queries, keys = make_vectors(target, width), make_vectors(reading, width)
    to_query, to_key, to_value = torch.randn(3, width, width) / width**0.5
    query, key, value = queries @ to_query, keys @ to_key, keys @ to_value
    heads = [part[None, None] for part in (query, key, value)]
    visible = torch.ones(1, 1, len(target), len(reading), dtype=torch.bool)
    score = scaled_dot if scaled else dot
    attended = attend(
        heads[0],
        heads[1],
        heads[2],
        score=score,
        select={"softmax": softmax, "argmax": argmax}[select],
        visible=visible,
    )
    scores = score(heads[0], heads[1])[0, 0]
    shown = [str(feature) for feature in range(min(width, ENTRIES))]
    return [
        Matrix("Scores", to_rows(scores), target, reading, "A row is a query.", signed=True),
        Matrix("Weights", to_rows(attended.weights[0, 0]), target, reading, "Every row sums to 1."),
        Matrix(
            "Output",
            to_rows(attended.mixed[0, 0, :, :ENTRIES]),
            target,
            shown,
            f"One vector per query, the weighted mean of the values; {len(shown)} of {width} "
            "features.",
            signed=True,
        ),
    ]


ATTENTION = Mechanism(
    _compute,
    name="attention",
    title="Attention",
    source="D0 Q1, D4 Q3; Vaswani et al. 2017, §3.2.1",
    equation="softmax(Q Kᵀ / √d) V,  Q = y Wq,  K = x Wk,  V = x Wv",
    text=(
        "Each word of the target asks a question, its query. Each word of the source offers a key "
        "and a value. The dot product of query and key is a score, the softmax turns the scores of "
        "a row into weights, and the output is the mean of the values with these weights.",
        "In self-attention source and target are the same text. In the decoder of a translator, "
        "cross-attention takes its keys and values from the encoder. The computation is the same. "
        "The vectors and matrices here are random: they show what is computed, not what a trained "
        "model attends to.",
    ),
    controls=(
        Words("target", "Target (queries)", "the dog runs", 12),
        Words("source", "Source (keys and values)", "der Hund läuft schnell", 12),
        Switch("itself", "Self-attention"),
        Choice("select", "Selection", "softmax", ("softmax", "argmax")),
        Switch("scaled", "Divide by √d", True),
        Slider("width", "Width d", 16, 4, 128, 4),
    ),
    attempts=(
        Attempt("The output has as many rows as the target, however long the source is."),
        Attempt("Attend to the target itself.", {"itself": "on"}),
        Attempt("Take the best key alone: hard attention.", {"select": "argmax"}),
        Attempt(
            "Leave the scale out at a large width: weights concentrate.",
            {"scaled": "off", "width": "128"},
        ),
    ),
    claims=("cross-attention", "context-kept-once", "order-blindness"),
    layer="layers/attention.py",
)
