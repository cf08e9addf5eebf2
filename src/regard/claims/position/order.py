"""Attention without positions ignores order (D0, D2 a, D3, D4 Q2)."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.layers.attention import Attention, dot
from regard.layers.pooling import Mean
from regard.layers.visibility import causal
from regard.models.body import all_visible
from regard.models.build.labels import classifier
from regard.recipe.model import AttentionSettings, ModelSettings, NoPositionSettings

POSITIONS, WIDTH, HEADS = 13, 24, 3
PAIRS = (
    ("the dog bites the man", "the man bites the dog"),
    ("not good , bad", "not bad , good"),
    ("machine translating", "translating machine"),
    ("she said he lied", "he said she lied"),
    ("only he came", "he only came"),
)
"""Pairs of the same words in another order, with different meanings."""


@claim(
    numbers=(20,),
    source="D0, D2 a, D3, D4 Q2; Vaswani et al. 2017, §3.5",
    statement="Attention without positions does not see order: permuted words give permuted "
    "states, and the same pooled state.",
    layer="layers/attention.py",
    meaning="Rounding errors: attention is permutation-equivariant, and invariant once pooled. A "
    "causal mask breaks the symmetry.",
    next_step="See causal-sees-order for why a language model can work without positions.",
)
@exact()
def order_blindness() -> Measurement:
    """Permute 13 random states and attend with and without the causal mask.

    Equivariance: the outputs are permuted alike. Invariance: their mean is the same. With the
    causal mask the mean changes.
    """
    states, order = torch.randn(1, POSITIONS, WIDTH), torch.randperm(POSITIONS)
    free, masked = Attention(WIDTH, HEADS), Attention(WIDTH, HEADS, rule=causal)
    seen = all_visible(POSITIONS)
    plain, turned = free(states, visible=seen), free(states[:, order], visible=seen)
    equivariant = difference(turned, plain[:, order])
    invariant = _compare_pooled(plain, turned)
    broken = _compare_pooled(masked(states, visible=seen), masked(states[:, order], visible=seen))
    return Measurement(
        f"permuted outputs differ by {equivariant:.0e}, pooled ones by {invariant:.0e}; with a "
        f"causal mask by {broken:.2f}",
        (
            Figure("equivariance error", equivariant, equivariant < 1e-14, given=3e-16, within=9.0),
            Figure("invariance error of the mean", invariant, invariant < 1e-14, 6e-17, within=9.0),
            Figure(
                "change of the mean, causal",
                broken,
                given=0.49,
                within=0.05,
                note="the reference has another size and scale of states; what matters "
                "is that it is not 0",
            ),
        ),
    )


def _compare_pooled(first: Tensor, second: Tensor) -> float:
    pool, seen = Mean(), all_visible(POSITIONS)
    return difference(pool(first, visible=seen), pool(second, visible=seen))


@claim(
    numbers=(20,),
    source="D4 Q2",
    statement="Attention does not see order because dot(a, b) = dot(b, a).",
    layer="layers/attention.py",
    meaning="Scores are not symmetric once queries and keys have their own projections, and "
    "symmetry is not the reason anyway.",
    next_step="Set to_key = to_query: the scores are then symmetric, and the layer as order-blind "
    "as before.",
    correction="The reason is permutation equivariance: see order-blindness.",
)
@exact()
def dot_is_symmetric() -> Measurement:
    """Score random states against themselves with separate Wq and Wk; compare S with Sᵀ."""
    layer = Attention(WIDTH, 1)
    states = torch.randn(1, POSITIONS, WIDTH)
    query, key = (to(states)[:, None] for to in (layer.to_query, layer.to_key))
    scores = dot(query, key)[0, 0]
    plain = dot(states[:, None], states[:, None])[0, 0]
    gap, without = difference(scores, scores.T), difference(plain, plain.T)
    return Measurement(
        f"scores differ from their transpose by up to {gap:.1f}",
        (
            Figure(
                "largest difference of S and its transpose",
                gap,
                gap < 1e-9,
                given=6.2,
                within=0.05,
                note="the reference has another draw of Wq and Wk; it is far from 0",
            ),
            Figure("the same without Wq and Wk", without),
        ),
    )


@claim(
    numbers=(20,),
    source="D3; Haviv et al. 2022; Kazemnejad et al. 2023",
    statement="A causal model without positions can still see order.",
    layer="layers/visibility.py",
    meaning="After one layer the last state is a mean over a set. After two it depends on the "
    "order, since the states it attends to have seen different prefixes.",
    next_step='Train a language model with position.kind = "none": see position-schemes-trained.',
)
@exact()
def causal_sees_order() -> Measurement:
    """Swap the first two of 13 tokens before causal layers without positions; compare last states.

    Two layers are needed: in the first, a state is a mean over a set.
    """
    first, second = (Attention(WIDTH, HEADS, rule=causal) for _ in range(2))
    states, seen = torch.randn(1, POSITIONS, WIDTH), all_visible(POSITIONS)
    swapped = states[:, [1, 0, *range(2, POSITIONS)]]

    def last(states: Tensor, *layers: Attention) -> Tensor:
        for layer in layers:
            states = layer(states, visible=seen)
        return states[0, -1]

    one = difference(last(states, first), last(swapped, first))
    two = difference(last(states, first, second), last(swapped, first, second))
    return Measurement(
        f"the last state changes by {one:.0e} after one layer and by {two:.1g} after two",
        (
            Figure("change after one causal layer", one),
            Figure("change after two causal layers", two, two > 1e-6),
        ),
    )


@claim(
    numbers=(21,),
    source="D2 a",
    statement="Where order determines the label, a model that sees no order is at chance: 50%.",
    layer="layers/position.py",
    meaning="Both sentences of a pair get the same logits up to rounding, whatever the "
    "parameters: no training could help. With sinusoids they differ.",
    next_step="`regard claims order-needed-trained --slow` trains both.",
)
@exact()
def order_needed() -> Measurement:
    """Classify five pairs of sentences of the same words with a model without positions.

    Two layers, mean pooling, random parameters; then the same with sinusoids. Each pair has one
    sentence of either label, so equal logits within every pair mean exactly 50% accuracy.
    """
    words = sorted({word for pair in PAIRS for text in pair for word in text.split()})
    blind = _compare_pairs(words, ModelSettings(**_SMALL, position=NoPositionSettings(kind="none")))
    sighted = _compare_pairs(words, ModelSettings(**_SMALL))
    best = 0.5 if blind < 1e-12 else 1.0
    return Measurement(
        f"within a pair logits differ by {blind:.0e} without positions: at best {best:.0%} right",
        (
            Figure("largest difference within a pair, no positions", blind, blind < 1e-12),
            Figure("smallest difference within a pair, sinusoids", sighted, sighted > 1e-9),
            Figure("best accuracy without positions", best, best == 0.5, given=0.5),
        ),
    )


_SMALL: dict[str, Any] = {
    "width": 16,
    "depth": 2,
    "feed_forward": 23,
    "dropout": 0.0,
    "zero_init": False,
    "mixer": AttentionSettings(heads=2),
}


def _compare_pairs(words: list[str], settings: ModelSettings) -> float:
    """Give the difference within a pair: the largest without positions, else the smallest."""
    model = classifier(settings, len(words), 2).eval()
    gaps = [_compare_logits(model, words, *pair) for pair in PAIRS]
    blind = isinstance(settings.position, NoPositionSettings)
    return max(gaps) if blind else min(gaps)


def _compare_logits(model: nn.Module, words: list[str], *pair: str) -> float:
    ids = torch.tensor([[words.index(word) for word in text.split()] for text in pair])
    logits = model(ids, lengths=torch.tensor([ids.shape[1]] * 2))
    return difference(*logits)
