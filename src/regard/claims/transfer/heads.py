"""Another head on the same body, and the laboratory's parameter counts (D3 Q2, Q3)."""

import torch
from torch import nn

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import exact
from regard.claims.table import tabulate
from regard.draw.bars import Bars
from regard.models.build.labels import classifier
from regard.models.build.writing import language_model
from regard.models.parameters import collect_parameters
from regard.models.transfer import transfer_parameters
from regard.recipe.load import load
from regard.recipe.model import AttentionSettings, ModelSettings

WORDS, WIDTH, LAYERS = 50_001, 200, 4


@claim(
    numbers=(51,),
    source="D3 Q2; Radford et al. 2018",
    statement="For another task the head that predicts words is replaced by one that predicts "
    "labels; the body is kept.",
    layer="models/transfer.py",
    meaning="The body is transferred to the bit and only the head is initialised anew.",
    next_step="Set model.start.run in a recipe to a finished run.",
)
@exact()
def head_replaced() -> Measurement:
    """Carry the body of a small language model over into a classifier of two labels.

    Counted are parameters that are equal to the bit, and the shapes of both heads.
    """
    shape = ModelSettings(
        width=24,
        depth=2,
        feed_forward=37,
        dropout=0.0,
        tied=False,
        zero_init=False,
        causal=True,
        mixer=AttentionSettings(heads=2),
    )
    before = language_model(shape, 101)
    after = classifier(shape, 101, 2)
    old = {name: tensor.clone() for name, tensor in collect_parameters(before).items()}
    carried, new = transfer_parameters(after, old)
    own = dict(after.named_parameters())
    same = sum(torch.equal(own[name], old[name]) for name in carried)
    heads = [tuple(own[name].shape) for name in new]
    ids = torch.randint(7, 101, (3, 11))
    lengths = torch.tensor([11, 11, 11])
    gap = (after.eval()(ids, lengths=lengths)).isfinite().all()
    old_head = before.head.matrix.shape
    return Measurement(
        f"{same} of {len(carried)} tensors of the body are carried over to the bit; the head of "
        f"{old_head[0]} rows is replaced by one of {heads[0][0]}",
        (
            Figure("tensors carried to the bit", same, same == len(carried)),
            Figure("rows of the old head", old_head[0], old_head[0] == 101),
            Figure("rows of the new head", heads[0][0], heads[0][0] == 2),
            Figure("newly initialised tensors", len(new), len(new) == 2 and bool(gap)),
        ),
    )


@claim(
    numbers=(52,),
    source="D3 Q3",
    statement="The laboratory's models have 21,650,401 (text prediction) and 11,600,602 "
    "(sentiment) parameters.",
    layer="models/gpt.py",
    meaning="The document counts attention's four matrices once per head, and omits the layers' "
    "biases and norms: 4·L·n²·(heads-1) - 10·L·n = 632,000 too many.",
    next_step="See laboratory-heads; or `regard account lab-language-model`.",
    correction="21,018,401 and 10,968,602.",
)
def laboratory_counts() -> Measurement:
    """Build the laboratory's model as its recipe describes it, with either head, and count.

    50,001 words, width 200, 4 layers, 2 heads, inner width 200; on torch's meta device.
    """
    counts = {"text prediction": _count_model(2, WORDS), "sentiment": _count_model(2, 2)}
    documented = {"text prediction": 21_650_401, "sentiment": 11_600_602}
    correct = {"text prediction": 21_018_401, "sentiment": 10_968_602}
    figures = []
    for name, found in counts.items():
        figures += [
            Figure(f"{name}, counted", found, found == documented[name], given=correct[name]),
            Figure(f"{name}, in the document", documented[name]),
            Figure(f"{name}, too many", documented[name] - found, given=632_000),
        ]
    shared = _count_model(2, WORDS, tied=True)
    figures.append(Figure("text prediction, one table for both ends", shared, given=11_018_201))
    return Measurement(
        f"{counts['text prediction']:,} and {counts['sentiment']:,}; the document has 632,000 more",
        tuple(figures),
        Bars("Parameters", [(f.name, f.value) for f in figures if "too many" not in f.name]),
    )


@claim(
    numbers=(52,),
    source="D3 Q3",
    statement="The number of parameters grows with the number of heads.",
    layer="layers/attention.py",
    meaning="0: heads divide the width, they do not multiply it.",
    next_step="See heads-at-equal-cost for the same question about multiplications.",
    correction="It is n_tok·n + L(6n² + 10n) + (n+1)C for an inner width of n, with any number of "
    "heads.",
)
def laboratory_heads() -> Measurement:
    """Count the sentiment model with 1, 2, 4 and 8 heads; compare with the document's formula.

    The formula is tokens·n + L(4·heads·n² + 2n²) + (n+1)·2.
    """
    heads = (1, 2, 4, 8)
    found = {many: _count_model(many, 2) for many in heads}
    ends = WORDS * WIDTH + (WIDTH + 1) * 2
    formula = {many: ends + LAYERS * (4 * many + 2) * WIDTH**2 for many in heads}
    given = {1: 10_960_602, 2: 11_600_602, 4: 12_880_602, 8: 15_440_602}
    spread = max(found.values()) - min(found.values())
    general = ends + LAYERS * (6 * WIDTH**2 + 10 * WIDTH)
    return Measurement(
        f"{found[1]:,} with any number of heads; the document's formula goes from {formula[1]:,} "
        f"to {formula[8]:,}",
        (
            Figure("difference between 1 and 8 heads, counted", spread, spread > 0),
            Figure("n_tok·n + L(6n² + 10n) + (n+1)C", general, given=found[1]),
            *tabulate("the document's formula, {} heads", formula, given=given),
        ),
        Bars(
            "Parameters by heads",
            [(f"counted, {many} heads", count) for many, count in found.items()]
            + [(f"formula, {many} heads", count) for many, count in formula.items()],
        ),
    )


def _count_model(heads: int, outputs: int, *, tied: bool = False) -> int:
    settings = load("lab-language-model").model
    mixer = AttentionSettings(heads=heads, biases=True)
    settings = settings.model_copy(update={"mixer": mixer, "tied": tied})
    with torch.device("meta"):
        model: nn.Module = (
            language_model(settings, WORDS)
            if outputs == WORDS
            else classifier(settings, WORDS, outputs)
        )
    return count_parameters(model)
