"""Parameters of a recipe, counted term by term (D0 Q6, D3 Q3)."""

from regard.account.facts import facts_of
from regard.account.parameters import parameters
from regard.mechanisms.mechanism import (
    Attempt,
    Choice,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
)
from regard.recipe.load import load, override

RECIPES = {"encoder-decoder": "transformer-base", "decoder (GPT)": "gpt2"}
"""The shipped recipe whose other settings hold."""
WITH_DECODER = ("encoder-decoder",)
BYTES = 16
"""Per parameter while training: weight, gradient and two moments of Adam, in float32."""


def _compute(
    kind: str, width: int, depth: int, feed_forward: int, vocabulary: int, tied: bool, heads: str
) -> list[Panel]:
    recipe = override(
        load(RECIPES[kind]),
        {
            "model.width": width,
            "model.depth": depth,
            **({"model.decoder_depth": depth} if kind in WITH_DECODER else {}),
            "model.feed_forward": feed_forward * width,
            "model.tied": tied,
            "model.mixer.heads": int(heads),
        },
    )
    counted = parameters(recipe, facts_of(recipe, vocabulary=vocabulary))
    rows = [
        [part, f"{number:,}", f"{number / counted.total:.1%}"]
        for part, number in counted.parts.items()
        if number
    ]
    rows.append(["all", f"{counted.total:,}", "100%"])
    return [
        Table(
            f"{counted.total / 1e6:,.1f} million parameters",
            ["part", "parameters", "share"],
            rows,
            "By the formulas of regard account, which tests compare with the built model.",
        ),
        Table(
            "Term by term",
            ["term", "value"],
            [
                ["V·d, the embedding", f"{vocabulary * width:,}"],
                ["4·d², one attention", f"{4 * width * width:,}"],
                ["2·f·d, one feed-forward layer", f"{2 * feed_forward * width * width:,}"],
                ["heads", "no term: they divide the width"],
                ["memory to train, 16 bytes each", f"{BYTES * counted.total / 1e9:,.2f} GB"],
            ],
        ),
    ]


PARAMETERS = Mechanism(
    _compute,
    name="parameters",
    title="Parameters, term by term",
    source="D0 Q6, D3 Q3; Vaswani et al. 2017, table 3",
    equation="V·d + N·(4d² + 2d·f + …) per stack",
    text=(
        "Where are the parameters of a transformer? In the table of tokens, V·d, and in the "
        "blocks: four square matrices of attention, and two of the feed-forward layer, four times "
        "as wide. The number of heads does not occur: heads divide the width among them.",
        "The base model of 2017 has N = 6, d = 512, f = 2048, one table for source, target and "
        "softmax. With a vocabulary of 37,000 that makes 63 million, not the 65 million of the "
        "paper's table.",
    ),
    controls=(
        Choice("kind", "Model", "encoder-decoder", tuple(RECIPES)),
        Slider("width", "Width d", 512, 64, 1024, 64),
        Slider("depth", "Blocks N", 6, 1, 24),
        Slider("feed_forward", "Feed-forward, times d", 4, 1, 8),
        Slider("vocabulary", "Vocabulary V", 37000, 1000, 60000, 1000),
        Switch("tied", "One table for input and output", True),
        Choice("heads", "Heads", "8", ("1", "2", "4", "8", "16")),
    ),
    attempts=(
        Attempt("Change the heads: nothing happens.", {"heads": "16"}),
        Attempt("Untie the tables.", {"tied": "off"}),
        Attempt("The big model of the paper.", {"width": "1024", "heads": "16"}),
        Attempt(
            "GPT-2's size.",
            {"kind": "decoder (GPT)", "width": "768", "depth": "12", "vocabulary": "50000"},
        ),
    ),
    claims=(
        "sixty-five-million",
        "laboratory-counts",
        "laboratory-heads",
        "untrainable-on-one-computer",
    ),
    layer="account/parameters.py",
)
