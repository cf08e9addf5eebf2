"""Another head on the same body, and the laboratory's counts (D3 Q2, Q3)."""

import torch
from torch import nn

from regard.claims.claim import Claim, Figure, Measured
from regard.claims.precision import exact
from regard.draw.bars import Bars
from regard.models.build.labels import classifier
from regard.models.build.writing import language_model
from regard.models.parameters import parameters_of
from regard.models.transfer import carry
from regard.recipe.load import load
from regard.recipe.model import AttentionSettings, ModelSettings

WORDS, WIDTH, LAYERS = 50_001, 200, 4


def _replaced() -> Measured:
    """Carry the body of a small language model into a classifier of two labels.

    Counted are parameters that came over to the bit, and the shapes of both heads.
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
    with exact():
        before = language_model(shape, 101)
        after = classifier(shape, 101, 2)
        old = {name: tensor.clone() for name, tensor in parameters_of(before).items()}
        carried, new = carry(after, old)
        own = dict(after.named_parameters())
        same = sum(torch.equal(own[name], old[name]) for name in carried)
        heads = [tuple(own[name].shape) for name in new]
        ids = torch.randint(7, 101, (3, 11))
        lengths = torch.tensor([11, 11, 11])
        gap = (after.eval()(ids, lengths=lengths)).isfinite().all()
    old_head = before.head.matrix.shape
    return Measured(
        f"{same} of {len(carried)} tensors of the body come over to the bit; the head of "
        f"{old_head[0]} rows is replaced by one of {heads[0][0]}",
        (
            Figure("tensors carried to the bit", same, same == len(carried)),
            Figure("rows of the old head", old_head[0], old_head[0] == 101),
            Figure("rows of the new head", heads[0][0], heads[0][0] == 2),
            Figure("tensors that begin anew", len(new), len(new) == 2 and bool(gap)),
        ),
    )


def _laboratory() -> Measured:
    """Build the laboratory's model as its recipe describes it, with either head, and count.

    50,001 words, width 200, 4 layers, 2 heads, inner width 200; on torch's meta device.
    """
    counts = {"text prediction": _count(2, WORDS), "sentiment": _count(2, 2)}
    said = {"text prediction": 21_650_401, "sentiment": 11_600_602}
    exact_ = {"text prediction": 21_018_401, "sentiment": 10_968_602}
    figures = []
    for name, found in counts.items():
        figures += [
            Figure(f"{name}, counted", found, found == said[name], given=exact_[name]),
            Figure(f"{name}, in the document", said[name]),
            Figure(f"{name}, too many", said[name] - found, given=632_000),
        ]
    shared = _count(2, WORDS, tied=True)
    figures.append(Figure("text prediction, one table for both ends", shared, given=11_018_201))
    return Measured(
        f"{counts['text prediction']:,} and {counts['sentiment']:,}; the document has 632,000 more",
        tuple(figures),
        Bars("Parameters", [(f.name, f.value) for f in figures if "too many" not in f.name]),
    )


def _heads() -> Measured:
    """Count the sentiment model with 1, 2, 4 and 8 heads; beside it the document's formula.

    The formula is tokens·n + L(4·heads·n² + 2n²) + (n+1)·2.
    """
    heads = (1, 2, 4, 8)
    found = [_count(many, 2) for many in heads]
    formula = [
        WORDS * WIDTH + LAYERS * (4 * many + 2) * WIDTH**2 + (WIDTH + 1) * 2 for many in heads
    ]
    given = (10_960_602, 11_600_602, 12_880_602, 15_440_602)
    spread = max(found) - min(found)
    general = WORDS * WIDTH + LAYERS * (6 * WIDTH**2 + 10 * WIDTH) + (WIDTH + 1) * 2
    figures = [
        Figure("difference between 1 and 8 heads, counted", spread, spread > 0),
        Figure("n_tok·n + L(6n² + 10n) + (n+1)C", general, given=found[0]),
        *(
            Figure(f"the document's formula, {many} heads", value, given=told)
            for many, value, told in zip(heads, formula, given, strict=True)
        ),
    ]
    return Measured(
        f"{found[0]:,} with any number of heads; the document's formula goes from "
        f"{formula[0]:,} to "
        f"{formula[-1]:,}",
        tuple(figures),
        Bars(
            "Parameters by heads",
            [(f"counted, {h} heads", n) for h, n in zip(heads, found, strict=True)]
            + [(f"formula, {h} heads", n) for h, n in zip(heads, formula, strict=True)],
        ),
    )


def _count(heads: int, outputs: int, *, tied: bool = False) -> int:
    settings = load("lab-language-model").model
    mixer = AttentionSettings(heads=heads, biases=True)
    settings = settings.model_copy(update={"mixer": mixer, "tied": tied})
    with torch.device("meta"):
        model: nn.Module = (
            language_model(settings, WORDS)
            if outputs == WORDS
            else classifier(settings, WORDS, outputs)
        )
    return sum(parameter.numel() for parameter in model.parameters())


REPLACED = Claim(
    name="head-replaced",
    numbers=(51,),
    source="D3 Q2; Radford et al. 2018",
    statement="For another task the head that says words is replaced by one that says labels; the "
    "body is kept.",
    layer="models/transfer.py",
    reading="The body comes over to the bit and only the head begins anew.",
    then="Set model.start.run in a recipe to a finished run.",
    measure=_replaced,
)
LABORATORY = Claim(
    name="laboratory-counts",
    numbers=(52,),
    source="D3 Q3",
    statement="The laboratory's models have 21,650,401 (text prediction) and 11,600,602 "
    "(sentiment) "
    "parameters.",
    layer="models/gpt.py",
    reading="The document counts attention's four matrices once per head, and forgets the layers' "
    "biases and norms: 4·L·n²·(heads-1) - 10·L·n = 632,000 too many.",
    then="See laboratory-heads; or `regard account lab-language-model`.",
    right="21,018,401 and 10,968,602.",
    measure=_laboratory,
)
HEADS = Claim(
    name="laboratory-heads",
    numbers=(52,),
    source="D3 Q3",
    statement="The number of parameters grows with the number of heads.",
    layer="layers/attention.py",
    reading="0: heads share out the width, they do not multiply it.",
    then="See heads-at-equal-cost for the same question of multiplications.",
    right="It is n_tok·n + L(6n² + 10n) + (n+1)C for an inner width of n, with any number of "
    "heads.",
    measure=_heads,
)
