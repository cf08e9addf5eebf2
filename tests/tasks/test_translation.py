"""Translation's loss: two passes drawn together (R-Drop)."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.layers.dropout import keyed
from regard.recipe.load import make
from regard.tasks.losses import consistency, cross_entropy
from regard.tasks.translation import Translation
from regard.text.train import train_tokenizer

PAIRS = [("ein hund", "a dog"), ("zwei hunde laufen", "two dogs run"), ("hund", "dog")]


def task(dropout, weight):
    made = make(
        {
            "task": "translation",
            "data": {"train": ["a", "b"]},
            "model": {
                "width": 12,
                "depth": 1,
                "decoder_depth": 1,
                "feed_forward": 17,
                "dropout": dropout,
                "zero_init": False,
                "writes": "all",
            },
            "training": {"consistency": weight, "label_smoothing": 0.1},
        }
    )
    texts = [text for pair in PAIRS for text in pair]
    tokenizer = train_tokenizer(texts, kind="bpe", vocabulary=290)
    torch.manual_seed(3)
    found = Translation(made, tokenizer)
    return found, found.build().double().train()


def lost(dropout, weight, key=(1, 2)):
    found, model = task(dropout, weight)
    with keyed(*key):
        return found.loss(model, found.pad(found.encode(PAIRS)))


def test_without_dropout_both_passes_agree_and_nothing_is_added():
    assert_close(lost(0.0, 2.0).smoothed, lost(0.0, 0.0).smoothed)
    assert lost(0.0, 2.0).plain == pytest.approx(lost(0.0, 0.0).plain)


def test_with_dropout_the_passes_differ_and_their_distance_is_added():
    found, model = task(0.3, 2.0)
    batch = found.pad(found.encode(PAIRS))
    target = batch.fields[1]
    counted = torch.arange(target.ids.shape[1])[None] < target.lengths[:, None]
    with keyed(1, 2):
        first, second = (model.head(found.states(model, batch)[counted]) for _ in range(2))
    truth = target.ids[counted]
    each = [cross_entropy(logits, truth, smoothing=0.1).smoothed for logits in (first, second)]
    expected = sum(each) / 2 + 2.0 * consistency(first, second)
    assert consistency(first, second) > 0
    assert_close(lost(0.3, 2.0).smoothed, expected)
    assert lost(0.3, 2.0).tokens == int(counted.sum())


def test_measuring_passes_once():
    found, model = task(0.3, 2.0)
    batch = found.pad(found.encode(PAIRS))
    once, again = (found.loss(model.eval(), batch).smoothed for _ in range(2))
    assert_close(once, again)
    assert np.isfinite(float(once.detach()))
