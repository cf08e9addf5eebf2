"""Positions on the states, on queries and keys, and on the scores (D2 b, c)."""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.layers.attention import Attention, PositionScheme
from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable
from regard.layers.position import Added, Concatenated, Rotary, Sinusoidal
from regard.layers.tap import listen
from regard.mechanisms.attention import make_vectors
from regard.mechanisms.mechanism import (
    Attempt,
    Choice,
    Matrix,
    Mechanism,
    Panel,
    Table,
    Words,
    to_rows,
)

WIDTH, HEADS = 32, 2
SCHEMES = ("none", "added", "concatenated", "rotary", "ALiBi", "relative table", "relative buckets")


def _make_layer(scheme: str, positions: int) -> Attention:
    features = WIDTH // HEADS
    makers: dict[str, Callable[[], PositionScheme]] = {
        "rotary": lambda: PositionScheme(rotary=Rotary(features)),
        "ALiBi": lambda: PositionScheme(bias=Alibi(HEADS)),
        "relative table": lambda: PositionScheme(bias=_draw(RelativeTable(HEADS, positions))),
        "relative buckets": lambda: PositionScheme(bias=_draw(RelativeBuckets(HEADS, 8, 16))),
    }
    width = 2 * WIDTH if scheme == "concatenated" else WIDTH
    torch.manual_seed(0)
    return Attention(width, HEADS, place=makers.get(scheme, PositionScheme)())


def _draw(bias: RelativeTable | RelativeBuckets) -> RelativeTable | RelativeBuckets:
    """Let a table of zeros, as it is before training, hold random numbers."""
    bias.table.normal_(std=2.0, generator=torch.Generator().manual_seed(1))
    return bias


def _encode(scheme: str, states: Tensor) -> Tensor:
    if scheme == "added":
        return Added(Sinusoidal(WIDTH))(states)
    if scheme == "concatenated":
        return Concatenated(Sinusoidal(WIDTH))(states)
    return states


def _weigh(layer: Attention, states: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights of the first head, and the mean of the outputs."""
    visible = torch.ones(1, 1, 1, states.shape[1], dtype=torch.bool)
    with listen(layer, "weights") as trace:
        mixed = layer(states, visible=visible)
    return trace["weights"][0][0, 0], mixed[0].mean(dim=0)


def _compute(words: list[str], scheme: str, order: str) -> list[Panel]:
    count = len(words)
    places = {
        "as written": list(range(count)),
        "reversed": list(reversed(range(count))),
        "shuffled": torch.randperm(count, generator=torch.Generator().manual_seed(3)).tolist(),
    }[order]
    layer = _make_layer(scheme, count)
    vectors = make_vectors(words, WIDTH)
    changed = [words[place] for place in places]
    weights, pooled = _weigh(layer, _encode(scheme, vectors[None]))
    other, other_pooled = _weigh(layer, _encode(scheme, vectors[places][None]))
    # The weights of the same pairs of words, wherever they stand now.
    back = torch.tensor(places).argsort()
    moved = (other[back][:, back] - weights).abs().max().item()
    panels: list[Panel] = [
        Matrix("Weights", to_rows(weights), words, words),
        Matrix(f"Weights, words {order}", to_rows(other), changed, changed),
        Table(
            "Does order matter?",
            ["figure", "value"],
            [
                ["largest change of a weight between the same two words", f"{moved:.1e}"],
                ["change of the mean output", f"{(other_pooled - pooled).abs().max().item():.1e}"],
                ["columns of the layer's input", str(layer.to_query.in_features)],
                ["parameters of the scheme", f"{_count(layer):,}"],
            ],
        ),
    ]
    if layer.bias is not None:
        bias = layer.bias(count, count)[0, 0]
        note = "Added to the scores of the first head: the same along every diagonal."
        panels.insert(0, Matrix("Bias", to_rows(bias), words, words, note, signed=True))
    return panels


def _count(layer: Attention) -> int:
    return sum(part.numel() for part in layer.bias.parameters()) if layer.bias is not None else 0


COMBINATION = Mechanism(
    _compute,
    name="positions",
    title="Where positions enter",
    source="D2 b, c, D4 Q2; Shaw et al. 2018, Su et al. 2021, Press et al. 2022",
    equation="x + p    [x, p]    R(t)q · R(s)k = q · R(s - t)k    q·k/√d + b(s - t)",
    text=(
        "Without positions attention is equivariant: shuffle the words, and the same words attend "
        "to each other by the same weights. Positions can be added to the states or concatenated "
        "to them, rotate queries and keys, or add a bias to the scores.",
        "Added and concatenated vectors tell where a word is; the others tell only how far apart "
        "two words are. A bias for every distance has 2T - 1 numbers per head for texts of T "
        "tokens. ALiBi has nothing to learn. The layer here is random.",
    ),
    controls=(
        Choice("scheme", "Scheme", "none", SCHEMES),
        Choice(
            "order", "Compare with the words", "reversed", ("as written", "reversed", "shuffled")
        ),
        Words("words", "Text", "the dog bites the man", 16),
    ),
    attempts=(
        Attempt("No positions: nothing changes but the order of rows.", {"scheme": "none"}),
        Attempt("Two equal words have equal rows until positions are added.", {"scheme": "added"}),
        Attempt("Concatenate: twice the columns.", {"scheme": "concatenated"}),
        Attempt("ALiBi prefers near words.", {"scheme": "ALiBi"}),
        Attempt("Shuffle with rotary positions.", {"scheme": "rotary", "order": "shuffled"}),
    ),
    claims=(
        *("order-blindness", "add-or-concatenate", "concatenation-more-general"),
        *("bias-is-concatenation", "relative-bias-parameters", "position-schemes-trained"),
    ),
    layer="layers/distance.py",
)
