"""BERT's input: three embeddings, summed (D0 Q8)."""

import torch

from regard.layers.embedding import Embedding, Extras
from regard.layers.position import Added, Learned
from regard.mechanisms.mechanism import (
    Attempt,
    Matrix,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
    Words,
    number_names,
    to_rows,
)

CLS, SEP = "[CLS]", "[SEP]"


def _compute(first: list[str], second: list[str], width: int, normed: bool) -> list[Panel]:
    tokens = [CLS, *first, SEP, *second, SEP]
    kinds = torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))
    known = {word: number for number, word in enumerate(dict.fromkeys(tokens))}
    ids = torch.tensor([known[token] for token in tokens])
    places = Learned(len(tokens), width)
    norm = torch.nn.LayerNorm(width) if normed else None
    embedding = Embedding(
        len(known), width, scaled=False, place=Added(places), extras=Extras(segments=2, norm=norm)
    )
    assert embedding.segments is not None
    parts = {
        "Tokens": embedding.table[ids],
        "Segments": embedding.segments[kinds],
        "Positions": places(len(tokens)),
    }
    whole = embedding(ids[None], segments=kinds[None])[0]
    summed = sum(parts.values(), torch.zeros(()))
    if norm is not None:
        summed = norm(summed)
    features = number_names(width)
    notes = {
        "Tokens": "A row of the table of tokens: equal tokens have equal rows.",
        "Segments": "One vector for the first text, one for the second.",
        "Positions": "One learned vector for each position.",
    }
    panels: list[Panel] = [
        Matrix(name, to_rows(part), tokens, features, notes[name], signed=True)
        for name, part in parts.items()
    ]
    title = "Their sum, normalised" if normed else "Their sum"
    panels.append(Matrix(title, to_rows(whole), tokens, features, "The input.", signed=True))
    panels.append(
        Table(
            "Counts",
            ["figure", "value"],
            [
                [
                    "largest difference of the layer from the sum of its tables",
                    f"{(whole - summed).abs().max().item():.1e}",
                ],
                ["tokens, [CLS] and [SEP] included", str(len(tokens))],
                ["parameters here", f"{sum(part.numel() for part in embedding.parameters()):,}"],
                [
                    "BERT-base: 30,522 tokens, 2 segments, 512 positions of width 768",
                    f"{(30522 + 2 + 512) * 768 + 2 * 768:,}",
                ],
            ],
        )
    )
    return panels


BERT_INPUT = Mechanism(
    _compute,
    name="bert-input",
    title="BERT's input",
    source="D0 Q8, D4 Q6; Devlin et al. 2019, figure 2",
    equation="state(t) = norm(E[token(t)] + S[segment(t)] + P[t])",
    text=(
        "BERT reads [CLS] first text [SEP] second text [SEP]. The input of the first layer is the "
        "sum of three vectors for each token: one for the token, one that says which of the two "
        "texts it belongs to, and one for its position. The sum is normalised.",
        "The state of [CLS] at the top is what a classifier reads; the states of all tokens are "
        "there as well.",
    ),
    controls=(
        Words("first", "First text", "my dog is cute", 10),
        Words("second", "Second text", "he likes my shoes", 10),
        Slider("width", "Width", 24, 4, 64, 4),
        Switch("normed", "Normalise", True),
    ),
    attempts=(
        Attempt("“my” occurs twice: equal rows of tokens, different sums."),
        Attempt("Without the norm, the sum is a plain sum.", {"normed": "off"}),
        Attempt("Exchange the texts.", {"first": "he likes my shoes", "second": "my dog is cute"}),
    ),
    claims=("bert-input", "bert-sizes", "sentence-in-one-token"),
    layer="layers/embedding.py",
)
