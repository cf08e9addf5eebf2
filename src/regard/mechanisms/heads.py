"""Several heads: the same cost, several patterns (D0 Q3, D2 d)."""

import torch

from regard.layers.attention import Attention
from regard.layers.tap import listen
from regard.mechanisms.attention import make_vectors
from regard.mechanisms.mechanism import (
    Attempt,
    Choice,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    Table,
    Words,
    to_rows,
)

WIDTH = 64
SHARPER = 3.0  # random projections give nearly uniform weights; these are easier to compare


def _compute(words: list[str], heads: str, head: int) -> list[Panel]:
    count = int(heads)
    layer = Attention(WIDTH, count)
    for part in (layer.to_query, layer.to_key):
        part.weight.mul_(SHARPER)
    states = make_vectors(words, WIDTH)[None]
    visible = torch.ones(1, 1, 1, len(words), dtype=torch.bool)
    with listen(layer, "weights") as trace:
        layer(states, visible=visible)
    weights = trace["weights"][0][0]
    shown = min(head, count)
    n, parameters = len(words), sum(part.numel() for part in layer.parameters())
    rows = [
        [
            str(number),
            str(WIDTH // number),
            f"{parameters:,}",
            f"{4 * n * WIDTH**2 + 2 * n**2 * WIDTH:,}",
            f"{number * n * n:,}",
        ]
        for number in (1, 2, 4, 8, 16)
    ]
    panels: list[Panel] = [
        Matrix(f"Head {shown} of {count}", to_rows(weights[shown - 1]), words, words),
        Matrix(
            "Mean of all heads", to_rows(weights.mean(0)), words, words, "What averaging loses."
        ),
        Table(
            "The price of a head",
            ["heads", "features each", "parameters", "multiply-adds", "softmax terms"],
            rows,
            f"For {n} tokens of width {WIDTH}. More heads are not cheaper: products cost the same, "
            "and there are more softmax terms.",
        ),
    ]
    return panels


HEADS = Mechanism(
    _compute,
    name="heads",
    title="Several heads",
    source="D0 Q3, D2 d; Vaswani et al. 2017, §3.2.2",
    equation="Concat(head₁ … headₕ) Wᴼ,  headᵢ = attend(y Wᵢq, x Wᵢk, x Wᵢv),  d/h features each",
    text=(
        "One softmax gives one weighted mean. Several heads divide the width among them and attend "
        "to several places at once: to the previous word and to the verb, say. Each head has its "
        "own matrix of weights.",
        "The projections here are random. In a trained model, the explain view shows every head.",
    ),
    controls=(
        Words("words", "Text", "the old dog that we saw runs home", 16),
        Choice("heads", "Heads", "4", ("1", "2", "4", "8", "16")),
        Slider("head", "Head that is shown", 1, 1, 16),
    ),
    attempts=(
        Attempt("Show another head of the same layer.", {"head": "2"}),
        Attempt("One head has all features.", {"heads": "1"}),
        Attempt("Sixteen heads of 4 features: as many parameters.", {"heads": "16", "head": "9"}),
    ),
    claims=("heads-at-equal-cost", "many-heads-cheaper", "heads-specialise"),
    layer="layers/attention.py",
)
