"""A claim about a layer that is broken by hand does not come out as before: claims really measure."""

import numpy as np
import pytest
import torch
from torch import nn

from regard.claims import masks
from regard.claims.attention import cross_and_self
from regard.claims.attention import heads as head_claims
from regard.claims.documents import hierarchy
from regard.claims.limits import parity
from regard.claims.measuring import measure
from regard.claims.position import combination, sinusoids
from regard.claims.pretraining import objectives
from regard.claims.structured import penalty
from regard.claims.transformer import architecture, training
from regard.data import sentence_pairs
from regard.layers import attention, distance, feed_forward, position
from regard.models import han


def _another_key(self, context, memory):
    key = self._split(self.to_value(context))
    return key, key


def _all_seen(query, key, value, *, visible, bias=None):
    return nn.functional.scaled_dot_product_attention(query, key, value)


def _faster_waves(self, positions, *, start=0):
    return position._Waves.forward(self.waves, 2 * positions, start=start)[::2].sin().flatten(-2)


def _one_more(self, heads, positions):
    nn.Module.__init__(self)
    self.positions = positions
    self.table = nn.Parameter(torch.zeros(heads, 2 * positions))


def _mixed_sentences(self, unfolded):
    alone = VECTORS(self, unfolded)
    return alone + alone.mean(dim=0)


VECTORS = han.Han.vectors

BREAKS = {
    "cross-attention": (
        cross_and_self.cross_attention,
        attention.Attention,
        "_project_context",
        _another_key,
    ),
    "mask-minus-infinity": (masks.mask_minus_infinity, attention, "fused", _all_seen),
    "cost-of-attention": (
        head_claims.cost_of_attention,
        attention.Attention,
        "to_output",
        property(lambda self: lambda states: states, lambda self, part: None),
    ),
    "shift-operator": (sinusoids.shift_operator, position.Sinusoidal, "forward", _faster_waves),
    "relative-bias-parameters": (
        combination.relative_bias_parameters,
        distance.RelativeTable,
        "__init__",
        _one_more,
    ),
    "block-is-torchs": (
        architecture.block_is_torchs,
        feed_forward,
        "_ACTIVATIONS",
        {"relu": torch.sigmoid},
    ),
    "label-smoothing-floor": (
        training.label_smoothing_floor,
        training,
        "cross_entropy",
        lambda logits, targets, smoothing: LOSS(logits, targets, smoothing=0.0),
    ),
    "schedule-peak": (
        training.schedule_peak,
        training,
        "rate_factor",
        lambda settings, step, steps, width: width**-0.5 * (step + 1) ** -0.5,
    ),
    "masked-words": (objectives.masked_words, objectives, "corrupt", lambda ids, *_, **__: ids),
    "next-sentence-direction": (
        objectives.next_sentence_direction,
        sentence_pairs.SentencePairs,
        "pair",
        lambda self, number, rng: sentence_pairs.Pair(np.array([9]), np.array([7]), 1),
    ),
    "penalty-range": (
        penalty.penalty_range,
        penalty,
        "frobenius",
        lambda weights: weights.sum(dim=(1, 2)),
    ),
    "han-isolation": (hierarchy.han_isolation, han.Han, "vectors", _mixed_sentences),
    "parity-by-hand": (
        parity.parity_by_hand,
        feed_forward,
        "_ACTIVATIONS",
        {"relu": nn.Identity()},
    ),
}
LOSS = training.cross_entropy


FAILED_BEFORE = {"next-sentence-direction", "parity-by-hand"}
"""Claims that come out as "fails" while nothing is broken; the others hold."""


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_layer_changes_what_is_found(name, monkeypatch):
    claim, home, attribute, broken = BREAKS[name]
    assert claim.name == name
    monkeypatch.setattr(home, attribute, broken, raising=False)
    assert measure(claim).kind != ("fails" if name in FAILED_BEFORE else "holds")
