"""Masks: four ways to hide the future, of which two do not (D0 Q5, D3 Q1)."""

import math

import torch
from torch import Tensor, nn

from regard.claims.claim import Drawing, Figure, Measured, claim
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, draw_matrix
from regard.layers.attention import Attention, Select, attend, scaled_dot, softmax
from regard.layers.embedding import Embedding
from regard.layers.position import Added, Sinusoidal
from regard.layers.tap import listen
from regard.layers.visibility import causal, padding
from regard.models.body import Body, all_visible
from regard.models.build.body import stack
from regard.models.gpt import LanguageModel
from regard.models.heads import TokenHead
from regard.recipe.model import ModelSettings

POSITIONS, FEATURES, ROWS = 64, 64, 50


def zero_before(scores: Tensor, visible: Tensor) -> Tensor:
    """Set hidden scores to 0 and take the softmax of all: the document's words, read literally."""
    return softmax(scores.masked_fill(~visible, 0.0), torch.ones_like(visible))


def zero_after(scores: Tensor, visible: Tensor) -> Tensor:
    """Take the softmax of all and set hidden weights to 0."""
    return softmax(scores, torch.ones_like(visible)) * visible


def renormalised(scores: Tensor, visible: Tensor) -> Tensor:
    """Do that and divide what is left by its sum."""
    weights = zero_after(scores, visible)
    return weights / weights.sum(dim=-1, keepdim=True)


def _heads() -> list[Tensor]:
    return [torch.randn(ROWS, 1, POSITIONS, FEATURES) for _ in range(3)]


def _weights(heads: list[Tensor], select: Select) -> Tensor:
    visible = causal(POSITIONS, POSITIONS)
    return attend(*heads, score=scaled_dot, select=select, visible=visible).weights


def _felt_future(select: Select) -> float:
    """Say how much a look at the past changes when keys and values of the future do."""
    heads = _heads()
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
    reading="Exactly 0 everywhere: no gradient, no bit changed, no NaN where nothing is visible.",
    then="Combine rules: causal & padding & within(3).",
)
@exact()
def mask_minus_infinity() -> Measured:
    """Look causally with the layer itself: gradients, a changed future, and rows that see nothing.

    All are exact questions: a gradient of 0, bits that stay the same, no number that is none.
    """
    layer = Attention(12, 3, rule=causal)
    states = torch.randn(1, 9, 12, requires_grad=True)
    leak = 0.0
    for place in range(8):
        mixed = layer(states, visible=all_visible(9))[0, place].sum()
        (gradient,) = torch.autograd.grad(mixed, states)
        leak = max(leak, gradient[0, place + 1 :].abs().max().item())
    felt = _felt_future(softmax)
    with listen(layer, "weights"):
        nothing = layer(states, visible=torch.zeros(1, 1, 1, 9, dtype=torch.bool))
    broken = int(nothing.isnan().sum())
    return Measured(
        f"gradient into the future {leak:g}, change felt {felt:g}, NaN in blind rows {broken}",
        (
            Figure("largest gradient into the future", leak, leak == 0.0, given=0.0),
            Figure("change felt from the future", felt, felt == 0.0, given=0.0),
            Figure("NaN where nothing is visible", broken, broken == 0, given=0),
        ),
        _map(softmax, "The look with the future at minus infinity"),
    )


@claim(
    numbers=(8,),
    source="D3 Q1",
    statement="The future is hidden by setting its scores to 0.",
    layer="layers/attention.py",
    reading="A score of 0 is an average score and not a forbidden one: exp(0) = 1.",
    then="Scale the scores up: the leak shrinks and never goes away.",
    right="Set them to minus infinity: the leak is then exactly 0.",
)
@exact()
def mask_zero_scores() -> Measured:
    """Score 50 times 64 queries and keys from N(0, I), set future scores to 0, take the softmax."""
    weights = _weights(_heads(), zero_before)
    leak = (weights * ~causal(POSITIONS, POSITIONS)).sum(dim=-1).mean().item()
    return Measured(
        f"{leak:.1%} of the look falls on the future",
        (Figure("share of the look on the future", leak, leak == 0.0, given=0.415, within=0.02),),
        _map(zero_before, "The look with future scores set to 0"),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="The future is hidden by multiplying the weights with a mask of 0 and 1.",
    layer="layers/attention.py",
    reading="What is left of a row sums to about half, and the softmax's denominator still holds "
    "the future's keys: the past changes with them.",
    then="Divide by the sum: see mask-zero-weights-renormalised.",
    right="Divide by what is left, or set scores to minus infinity before the softmax.",
)
@exact()
def mask_zero_weights() -> Measured:
    """Take the softmax of all scores, set the future's weights to 0; look at sums and leaks."""
    total = _weights(_heads(), zero_after).sum(dim=-1).mean().item()
    felt = _felt_future(zero_after)
    return Measured(
        f"rows sum to {total:.3f}, and the past changes by {felt:.2f} with the future's keys",
        (
            Figure("mean sum of a row", total, math.isclose(total, 1.0), given=0.509, within=0.02),
            Figure("change felt from the future", felt, felt == 0.0),
        ),
        _map(zero_after, "The look with future weights set to 0"),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="Weights set to 0 after the softmax and divided by their sum equal the mask of minus "
    "infinity.",
    layer="layers/attention.py",
    reading="A difference of rounding: the same look, at the price of a softmax over everything.",
    then="Try it in float32 with scores of 200: the sum that is divided by can underflow.",
)
@exact()
def mask_zero_weights_renormalised() -> Measured:
    """Compare weights set to 0 after the softmax and divided by their sum with the layer's own."""
    heads = _heads()
    gap = difference(_weights(heads, renormalised), _weights(heads, softmax))
    return Measured(
        f"the two looks differ by {gap:.0e}",
        (Figure("largest difference", gap, gap < 1e-14, given=2e-16, within=3.0),),
    )


@claim(
    numbers=(8,),
    source="D0 Q5",
    statement="The mask of 0 and 1 that marks padding also keeps the decoder from looking ahead.",
    layer="layers/visibility.py",
    reading="Pairs of a query and a later key that may still look at each other.",
    then="Join the rules: causal(n, n) & padding(lengths, n).",
    right="They are two rules, joined by and: one forbids padding, the other the future.",
)
def padding_is_not_causality() -> Measured:
    """Hide the padding of rows of 5 and 9 words, and count which futures can still be seen."""
    lengths = torch.tensor([5, 9])
    open_pairs = padding(lengths, 9).expand(2, 1, 9, 9)
    future = int((open_pairs & ~causal(9, 9)).sum())
    both = int((open_pairs & causal(9, 9) & ~causal(9, 9)).sum())
    return Measured(
        f"padding alone leaves {future} pairs that see the future; with the causal rule {both}",
        (
            Figure("pairs that see the future, padding alone", future, future == 0),
            Figure("pairs that see the future, both rules", both),
        ),
        draw_matrix(open_pairs[0, 0].double(), "What a row of 5 words may see, padding hidden"),
    )


@claim(
    numbers=(9,),
    source="D0 Q5; Vaswani et al. 2017, §3.1",
    statement="The decoder's input is shifted by one; otherwise it would only copy.",
    layer="models/gpt.py",
    reading="Without the shift the answer stands in the input, and the loss goes to 0 on noise "
    "that nobody can foretell.",
    then="Train on real text without the shift: the loss is splendid and the samples are not.",
)
def shift_by_one() -> Measured:
    """Train one small causal model twice on random tokens, 60 steps each.

    Once position t is to say token t + 1, once token t itself. There are 16 tokens, drawn evenly:
    nothing can be known of the next one, and its loss cannot fall below ln 16.
    """
    with torch.random.fork_rng(devices=[]):
        losses = {name: _train_on_noise(ahead) for name, ahead in (("next", 1), ("same", 0))}
    least = math.log(16)
    return Measured(
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
            {"to say the same token": losses["same"], "to say the next token": losses["next"]},
        ),
    )


def _train_on_noise(ahead: int) -> list[float]:
    torch.manual_seed(0)
    settings = ModelSettings(width=32, depth=1, feed_forward=64, dropout=0.0)
    reading = Embedding(16, 32, scaled=True, place=Added(Sinusoidal(32)))
    body = Body(reading, stack(settings, 1, looks_ahead=False))
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


def _map(select: Select, title: str) -> Drawing:
    """Draw one row of looks over 12 positions."""
    torch.manual_seed(0)
    heads = [torch.randn(1, 1, 12, 16) for _ in range(3)]
    found = attend(*heads, score=scaled_dot, select=select, visible=causal(12, 12)).weights
    return draw_matrix(found[0, 0], title, first=1)
