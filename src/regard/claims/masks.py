"""Masks: four ways to hide the future, of which two do not (D0 Q5, D3 Q1)."""

import math

import torch
from torch import Tensor, nn

from regard.claims.claim import Drawing, Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, draw_matrix
from regard.layers.attention import Attention, Select, attend, scaled_dot, softmax
from regard.layers.embedding import Embedding
from regard.layers.position import Added, Sinusoidal
from regard.layers.tap import listen
from regard.layers.visibility import causal, padding
from regard.mechanisms.masks import renormalise, zero_scores, zero_weights
from regard.models.body import Body, all_visible
from regard.models.build.body import stack
from regard.models.gpt import LanguageModel
from regard.models.heads import TokenHead
from regard.recipe.model import ModelSettings

POSITIONS, FEATURES, ROWS = 64, 64, 50


def _draw_heads() -> list[Tensor]:
    return [torch.randn(ROWS, 1, POSITIONS, FEATURES) for _ in range(3)]


def _attend(heads: list[Tensor], select: Select) -> Tensor:
    visible = causal(POSITIONS, POSITIONS)
    return attend(*heads, score=scaled_dot, select=select, visible=visible).weights


def _measure_leak(select: Select) -> float:
    """Measure how much outputs for the past change when future keys and values do."""
    heads = _draw_heads()
    others = [heads[0], *(part.clone() for part in heads[1:])]
    for part in others[1:]:
        part[:, :, POSITIONS // 2 :] += torch.randn_like(part[:, :, POSITIONS // 2 :])
    visible = causal(POSITIONS, POSITIONS)
    before, after = (
        attend(*each, score=scaled_dot, select=select, visible=visible).mixed
        for each in (heads, others)
    )
    return difference(before[:, :, : POSITIONS // 2], after[:, :, : POSITIONS // 2])


@claim(
    numbers=(8,),
    source="D0 Q5, D3 Q1; Vaswani et al. 2017, §3.2.3",
    statement="Setting future scores to minus infinity before the softmax hides the future.",
    layer="layers/attention.py",
    meaning="Exactly 0 everywhere: no gradient into the future, no changed bit, no NaN in a fully "
    "masked row.",
    next_step="Combine rules: causal & padding & within(3).",
)
@exact()
def mask_minus_infinity() -> Measurement:
    """Run causal attention: gradients into the future, changed future keys and values, masked rows.

    All tests are exact: the gradient is 0, the bits stay the same, nothing is NaN.
    """
    layer = Attention(12, 3, rule=causal)
    states = torch.randn(1, 9, 12, requires_grad=True)
    leak = 0.0
    for position in range(8):
        mixed = layer(states, visible=all_visible(9))[0, position].sum()
        (gradient,) = torch.autograd.grad(mixed, states)
        leak = max(leak, gradient[0, position + 1 :].abs().max().item())
    change = _measure_leak(softmax)
    with listen(layer, "weights"):
        hidden = layer(states, visible=torch.zeros(1, 1, 1, 9, dtype=torch.bool))
    broken = int(hidden.isnan().sum())
    return Measurement(
        f"gradient into the future {leak:g}, change caused by it {change:g}, NaN in masked rows "
        f"{broken}",
        (
            Figure("largest gradient into the future", leak, leak == 0.0, given=0.0),
            Figure("change caused by the future", change, change == 0.0, given=0.0),
            Figure("NaN in fully masked rows", broken, broken == 0, given=0),
        ),
        _draw_attention(softmax, "Attention with future scores at minus infinity"),
    )


@claim(
    numbers=(8,),
    source="D3 Q1",
    statement="The future is hidden by setting its scores to 0.",
    layer="layers/attention.py",
    meaning="A score of 0 is average, not forbidden: exp(0) = 1.",
    next_step="Scale the scores up: the leak shrinks but never vanishes.",
    correction="Set them to minus infinity: the leak is then exactly 0.",
)
@exact()
def mask_zero_scores() -> Measurement:
    """Score 50 sets of 64 queries and keys from N(0, I), zero future scores, take the softmax."""
    weights = _attend(_draw_heads(), zero_scores)
    leak = (weights * ~causal(POSITIONS, POSITIONS)).sum(dim=-1).mean().item()
    return Measurement(
        f"{leak:.1%} of the attention falls on the future",
        (Figure("attention on the future", leak, leak == 0.0, given=0.415, within=0.02),),
        _draw_attention(zero_scores, "Attention with future scores set to 0"),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="The future is hidden by multiplying the weights with a mask of 0 and 1.",
    layer="layers/attention.py",
    meaning="The rest of a row sums to about half, and the softmax's denominator still contains "
    "the future keys: the past changes with them.",
    next_step="Divide by the sum: see mask-zero-weights-renormalised.",
    correction="Divide by what is left, or set scores to minus infinity before the softmax.",
)
@exact()
def mask_zero_weights() -> Measurement:
    """Take the softmax of all scores and set future weights to 0; measure row sums and leaks."""
    total = _attend(_draw_heads(), zero_weights).sum(dim=-1).mean().item()
    change = _measure_leak(zero_weights)
    return Measurement(
        f"rows sum to {total:.3f}, and the past changes by {change:.2f} with future keys",
        (
            Figure("mean sum of a row", total, math.isclose(total, 1.0), given=0.509, within=0.02),
            Figure("change caused by the future", change, change == 0.0),
        ),
        _draw_attention(zero_weights, "Attention with future weights set to 0"),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="Weights set to 0 after the softmax and renormalised equal the mask of minus "
    "infinity.",
    layer="layers/attention.py",
    meaning="The difference is rounding: the same attention, at the price of a softmax over "
    "everything.",
    next_step="Try it in float32 with scores of 200: the sum can underflow.",
)
@exact()
def mask_zero_weights_renormalised() -> Measurement:
    """Compare weights that are zeroed after the softmax and renormalised with the layer's own."""
    heads = _draw_heads()
    gap = difference(_attend(heads, renormalise), _attend(heads, softmax))
    return Measurement(
        f"the two attentions differ by {gap:.0e}",
        (Figure("largest difference", gap, gap < 1e-14, given=2e-16, within=3.0),),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="The mask of 0 and 1 that marks padding also keeps the decoder from attending to "
    "the future.",
    layer="layers/visibility.py",
    meaning="Pairs of a query and a later key that are still visible.",
    next_step="Combine the rules: causal(n, n) & padding(lengths, n).",
    correction="They are two rules, combined by logical and: one hides padding, the other the "
    "future.",
)
def padding_is_not_causality() -> Measurement:
    """Mask the padding of rows of 5 and 9 tokens, and count the future pairs that stay visible."""
    lengths = torch.tensor([5, 9])
    open_pairs = padding(lengths, 9).expand(2, 1, 9, 9)
    future = int((open_pairs & ~causal(9, 9)).sum())
    both = int((open_pairs & causal(9, 9) & ~causal(9, 9)).sum())
    return Measurement(
        f"padding alone leaves {future} pairs that see the future; with the causal rule {both}",
        (
            Figure("pairs that see the future, padding alone", future, future == 0),
            Figure("pairs that see the future, both rules", both),
        ),
        draw_matrix(
            open_pairs[0, 0].double(), "What a row of 5 tokens may attend to, padding hidden"
        ),
    )


@claim(
    numbers=(9,),
    source="D0 Q5; Vaswani et al. 2017, §3.1",
    statement="The decoder's input is shifted by one; otherwise it would only copy.",
    layer="models/gpt.py",
    meaning="Without the shift the input contains the answer, and the loss goes to 0 even on "
    "unpredictable noise.",
    next_step="Train on real text without the shift: the loss is excellent and the samples are "
    "not.",
)
def shift_by_one() -> Measurement:
    """Train one small causal model twice on random tokens, 60 steps each.

    Position t predicts token t + 1 in one model, token t itself in the other. The 16 tokens are
    uniform, so the loss of next-token prediction cannot fall below ln 16.
    """
    with torch.random.fork_rng(devices=[]):
        losses = {name: _train_on_noise(ahead) for name, ahead in (("next", 1), ("same", 0))}
    least = math.log(16)
    return Measurement(
        f"without the shift the loss falls to {losses['same'][-1]:.3f}, with it it stays at "
        f"{losses['next'][-1]:.2f} (ln 16 = {least:.2f})",
        (
            Figure("loss without the shift", losses["same"][-1], losses["same"][-1] < 0.1),
            Figure("loss with the shift", losses["next"][-1], losses["next"][-1] > 0.95 * least),
            Figure("ln 16", least),
        ),
        draw_curves(
            "Loss on random tokens",
            "step",
            range(60),
            {"predict the same token": losses["same"], "predict the next token": losses["next"]},
        ),
    )


def _train_on_noise(ahead: int) -> list[float]:
    torch.manual_seed(0)
    settings = ModelSettings(width=32, depth=1, feed_forward=64, dropout=0.0)
    embedding = Embedding(16, 32, scaled=True, place=Added(Sinusoidal(32)))
    body = Body(embedding, stack(settings, 1, bidirectional=False))
    model = LanguageModel(body, TokenHead(32, 16))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    losses = []
    for _ in range(60):
        ids = torch.randint(16, (8, 12))
        logits = model.head(model(ids))[:, : 12 - ahead]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, ahead:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _draw_attention(select: Select, title: str) -> Drawing:
    """Draw one attention matrix over 12 positions."""
    torch.manual_seed(0)
    heads = [torch.randn(1, 1, 12, 16) for _ in range(3)]
    found = attend(*heads, score=scaled_dot, select=select, visible=causal(12, 12)).weights
    return draw_matrix(found[0, 0], title, first=1)
