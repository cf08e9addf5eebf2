"""Parameter counts: 65M, and what Table 3 implies (D0 Q6)."""

from typing import Any

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.draw.bars import Bars
from regard.models.build.writing import transformer
from regard.recipe.model import AttentionSettings, ModelSettings

VOCABULARY = 37_000
BASE: dict[str, Any] = {
    "width": 512,
    "depth": 6,
    "decoder_depth": 6,
    "feed_forward": 2048,
    "activation": "relu",
    "norm": "layer",
    "norm_order": "post",
    "biases": True,
    "tied": True,
    "mixer": AttentionSettings(heads=8),
}
BIG: dict[str, Any] = {
    **BASE,
    "width": 1024,
    "feed_forward": 4096,
    "mixer": AttentionSettings(heads=16),
}
TABLE_3 = {
    # rows of the paper's Table 3 that change the size: settings, printed millions
    "base": ({}, 65),
    "(B) 16 features per key": ({"key": 16}, 58),
    "(B) 32 features per key": ({"key": 32}, 60),
    "(C) 2 layers": ({"depth": 2, "decoder_depth": 2}, 36),
    "(C) 4 layers": ({"depth": 4, "decoder_depth": 4}, 50),
    "(C) 8 layers": ({"depth": 8, "decoder_depth": 8}, 80),
    "(C) width 256": ({"width": 256}, 28),
    "(C) width 1024": ({"width": 1024}, 168),
    "(C) inner 1024": ({"feed_forward": 1024}, 53),
    "(C) inner 4096": ({"feed_forward": 4096}, 90),
}


def count_translator(settings: dict[str, Any], tokens: int = VOCABULARY) -> int:
    """Count the parameters of a translator on the meta device."""
    with torch.device("meta"):
        return count_parameters(transformer(ModelSettings(**settings), tokens))


@claim(
    numbers=(30, 29),
    source="D0 Q6; Vaswani et al. 2017, table 3",
    statement="The base Transformer has 65 million parameters.",
    layer="models/transformer.py",
    meaning="A shared vocabulary of 37,000 gives 63.0M. The embedding table is 30% of it.",
    next_step="`regard account` splits any recipe's count by part.",
    correction="63,045,632 with the vocabulary the paper names; see table-3-vocabulary for what "
    "65M implies.",
)
def sixty_five_million() -> Measurement:
    """Build the paper's model with one table of 37,000 tokens on torch's meta device and count.

    Six layers each, width 512, inner 2048, 8 heads, sinusoids; then with attention biases, pre-
    norm, three separate tables, and the big model.
    """
    base = count_translator(BASE)
    biased = count_translator({**BASE, "mixer": AttentionSettings(heads=8, biases=True)})
    final = count_translator(
        {**BASE, "mixer": AttentionSettings(heads=8, biases=True), "norm_order": "pre"}
    )
    untied = count_translator({**BASE, "tied": False})
    inner = base - VOCABULARY * 512
    big = count_translator(BIG)
    return Measurement(
        f"{base:,} parameters, 3.0% below 65M; the big one has {big:,}",
        (
            Figure(
                "base, shared vocabulary of 37,000", base, round(base / 1e6) == 65, given=63_045_632
            ),
            Figure("with attention biases", biased, round(biased / 1e6) == 65, given=63_082_496),
            Figure("pre-norm, with final norms", final, round(final / 1e6) == 65, given=63_084_544),
            Figure("without the table", inner, given=44_101_632),
            Figure("with three tables", untied, round(untied / 1e6) == 65, given=100_933_632),
            Figure("big", big, given=214_171_648),
        ),
        Bars(
            "Parameters",
            [("base", base), ("without the table", inner), ("three tables", untied), ("big", big)],
        ),
    )


@claim(
    numbers=(30,),
    source="D0 Q6; Vaswani et al. 2017, table 3",
    statement="Table 3 was computed with the shared vocabulary of about 37,000 tokens.",
    layer="models/transformer.py",
    meaning="An inference from printed sizes, not a statement of the paper: the rows of the base "
    "family agree on one vocabulary, which is not 37,000; the big row agrees with neither.",
    next_step="Add rows of other papers to the same audit.",
    correction="The rows of the base family agree on about 41,100 tokens, an inference.",
)
def table_3_vocabulary() -> Measurement:
    """Compute for ten rows of the paper's Table 3 which vocabularies give the printed millions.

    A row that prints N million allows every vocabulary whose count rounds to N; the intervals of
    the base family are intersected. Sizes are ours, tied, without attention biases.
    """
    intervals = {name: _find_interval(*row) for name, row in TABLE_3.items()}
    low = max(low for low, _ in intervals.values())
    high = min(high for _, high in intervals.values())
    big = _find_interval({"big": True}, 213)
    agree = low <= high
    shared = low <= VOCABULARY <= high
    return Measurement(
        f"rows agree on one vocabulary in [{low:,}, {high:,}]; the big row needs "
        f"{big[0]:,} to {big[1]:,}",
        (
            Figure("least vocabulary all rows allow", low, shared, given=41_003, within=1e-3),
            Figure("greatest vocabulary all rows allow", high, given=41_209, within=1e-3),
            Figure("whether the rows agree at all", int(agree)),
            Figure("least vocabulary the big row allows", big[0], given=35_400, within=0.01),
            Figure("greatest vocabulary the big row allows", big[1], given=36_300, within=0.01),
        ),
        Bars(
            "Least vocabulary each row allows",
            [(name, least) for name, (least, _) in intervals.items()],
        ),
    )


def _find_interval(change: dict[str, int], millions: int) -> tuple[int, int]:
    """Give the range of vocabularies whose count rounds to the printed millions."""
    if "big" in change:
        settings, width = BIG, 1024
    else:
        plain = {name: value for name, value in change.items() if name != "key"}
        settings = {**BASE, **plain}
        width = settings["width"]
    inner = count_translator(settings, 1) - width
    if "key" in change:
        # 8 heads of fewer features: queries and keys of 18 layers are narrower than the width.
        inner -= 2 * 18 * width * (width - 8 * change["key"])
    low, high = (millions - 0.5) * 1e6, (millions + 0.5) * 1e6
    return -int(-(low - inner) // width), int((high - inner) // width)
