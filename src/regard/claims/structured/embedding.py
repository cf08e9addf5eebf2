"""The structured embedding: M = A·H, its size, and softmax concentration (D1 Q1)."""

import math

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, tabulate
from regard.draw.bars import Bars
from regard.layers.attention import softmax
from regard.layers.pooling import AttentionPool
from regard.layers.recurrent import Recurrent
from regard.models.body import all_visible
from regard.models.self_attentive import Dense

WORDS, WIDTH = 50, 24


@claim(
    numbers=(55, 56),
    source="D1 Q1; Lin et al. 2017, eq. 5-7",
    statement="One attention hop is a = softmax(w tanh(W Hᵀ)), m = aH; several are a matrix M = "
    "AH with a row for each hop.",
    layer="layers/pooling.py",
    meaning="Rounding only: attention with learned queries is the same call as any other.",
    next_step='Set model.head.pooling = "hops" in a recipe of classification.',
)
@exact()
def structured_embedding() -> Measurement:
    """Pool 50 words with 1 and 5 hops and compute softmax(W₂ tanh(W₁ Hᵀ))·H directly.

    The parameters are the layer's own; compared are the attention weights A and the matrix M.
    """
    states, seen = torch.randn(1, WORDS, WIDTH), all_visible(WORDS)
    gaps, sums = [], []
    for hops in (1, 5):
        layer = AttentionPool(WIDTH, hops, features=13, biases=False)
        mixed, weights = layer.attend(states, visible=seen)
        scores = layer.queries @ torch.tanh(layer.to_key.weight @ states[0].T)
        formula = torch.softmax(scores, dim=1)
        gaps += [difference(weights[0, 0], formula), difference(mixed[0, 0], formula @ states[0])]
        sums.append((weights.sum(dim=-1) - 1).abs().max().item())
    gap = max(gaps)
    return Measurement(
        f"the layer's weights and matrix equal the formula to {gap:.0e}",
        (
            Figure("difference from the formula", gap, gap < 1e-13),
            Figure("rows of A sum to one, error", max(sums), max(sums) < 1e-13),
        ),
    )


@claim(
    numbers=(56,),
    source="D1 Q1; Lin et al. 2017, §2, appendix A",
    statement="With 30 hops the layer after M holds nearly all parameters, which is why it is "
    "pruned.",
    layer="models/self_attentive.py",
    meaning="A BiLSTM over vectors of 300 and attention have 1.7M parameters together, the dense "
    "layer 36M.",
    next_step='Set model.head.hops.narrow = "pruned" and count again with `regard account`.',
)
def structured_sizes() -> Measurement:
    """Build the paper's parts and count their parameters.

    A BiLSTM of 300 each way over vectors of 300, 30 hops by 350 features, and a dense layer from
    18,000 to 2,000 on torch's meta device.
    """
    encoder = Recurrent(600, cell="lstm", causal=False, entering=300)
    pool = AttentionPool(600, 30, features=350, biases=False)
    with torch.device("meta"):
        dense = Dense(30, 600, 2000)
    lstm, attention, last = (count_parameters(part) for part in (encoder, pool, dense))
    share = last / (lstm + attention + last)
    return Measurement(
        f"BiLSTM {lstm:,}, attention {attention:,}, dense layer {last:,}",
        (
            Figure("BiLSTM", lstm, lstm == 1_444_800, given=1_444_800),
            Figure("attention", attention, attention == 220_500, given=220_500),
            Figure("dense layer, 18,000 to 2,000", last, last == 36_002_000, given=36_002_000),
            Figure("share of the dense layer", share, share > 0.9),
        ),
        Bars("Parameters", [("BiLSTM", lstm), ("attention", attention), ("dense layer", last)]),
    )


@claim(
    numbers=(57,),
    source="D1 Q1",
    statement="A softmax always gives high importance to one component.",
    layer="layers/attention.py",
    meaning="At equal logits it is uniform, 1/50 each; one component dominates only once the "
    "logits have a large spread.",
    next_step="Watch the entropy of the attention during training: penalty-trained records it.",
    correction="Only for logits with a large spread; at small ones it is nearly uniform.",
    condition="the standard deviation of the logits is 4 or more",
)
@exact()
def softmax_picks_one() -> Measurement:
    """Take the softmax of 50 random logits of growing spread and measure its largest weight."""
    spreads = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
    logits = torch.randn(200, 1, 1, WORDS)
    weights = [softmax(spread * logits, all_visible(WORDS)) for spread in spreads]
    most = [one.amax(dim=-1).mean().item() for one in weights]
    largest = dict(zip(spreads, most, strict=True))
    entropy = [torch.special.entr(one).sum(dim=-1).mean().item() for one in weights]
    even = math.log(WORDS)
    return Measurement(
        f"largest weight {largest[0.0]:.2f} at equal logits, {largest[1.0]:.2f} at spread 1, "
        f"{largest[8.0]:.2f} at spread 8",
        (
            *tabulate("largest weight, spread {:g}", largest, lambda weight: weight > 0.5),
            Figure("entropy over ln 50, spread 0", entropy[0] / even),
        ),
        draw_curves(
            "The largest of 50 weights",
            "standard deviation of the logits",
            spreads,
            {"largest weight": most, "entropy over ln 50": [one / even for one in entropy]},
        ),
    )


@claim(
    numbers=(60,),
    source="D1 Q1",
    statement="Every weight lies strictly between 0 and 1.",
    layer="layers/attention.py",
    meaning="True of real numbers. Floats round to 0 and 1 where logits are far apart.",
    next_step="See kl-is-unstable for what a weight of exactly 0 does to a logarithm.",
    condition="the logits are close enough that floats do not underflow",
)
@exact()
def weights_strictly_inside() -> Measurement:
    """Take the softmax of the logits 0 and s, s from 1 to 800, in float64.

    Tested is whether every weight lies in (0, 1).
    """
    figures = []
    for lead in (1.0, 10.0, 30.0, 800.0):
        scores = torch.tensor([0.0, lead])[None, None, None]
        least, most = softmax(scores, all_visible(2)).flatten().tolist()
        figures += [
            Figure(f"least weight, lead {lead:g}", least, least > 0.0),
            Figure(f"1 - greatest weight, lead {lead:g}", 1 - most, most < 1.0),
        ]
    return Measurement(
        f"in (0, 1) up to a lead of 30; at 800 the least weight is {figures[-2].value:g}",
        tuple(figures),
    )
