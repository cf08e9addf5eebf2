"""Weights of n-grams by label: computed by hand on a few texts, in bundles of any size."""

import numpy as np
import pytest

from regard.tasks.pretraining.ngram_weights import ENOUGH, LEAST, weigh_ngrams

TEXTS = [
    ([0, 1, 1, 4], ["good"]),
    ([0, 1, 4], ["good"]),
    ([0, 1], ["good"]),
    ([0, 2, 4], ["bad"]),
    ([0, 2], ["bad"]),
    ([0, 2, 2, 3, 4], ["bad"]),
]


def bundles(texts, size):
    for begin in range(0, len(texts), size):
        some = texts[begin : begin + size]
        owners = np.repeat(np.arange(len(some)), [len(rows) for rows, _ in some])
        found = np.concatenate([np.array(rows) for rows, _ in some])
        yield owners, found, [labels for _, labels in some]


def by_hand(row, label, texts=TEXTS, rows=6):
    having = [1 + sum(r in t for t, names in texts if label in names) for r in range(rows)]
    others = [1 + sum(r in t for t, names in texts if label not in names) for r in range(rows)]
    ratio = np.log(having[row] / sum(having)) - np.log(others[row] / sum(others))
    evidence = abs(ratio) - 0.5 * np.sqrt(1 / having[row] + 1 / others[row])
    return min(1.0, max(LEAST, evidence / ENOUGH))


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_worth_is_as_by_hand_however_texts_are_bundled(size):
    worth = weigh_ngrams(bundles(TEXTS, size), rows=6)
    expected = [max(by_hand(row, label) for label in ("good", "bad")) for row in range(6)]
    np.testing.assert_allclose(worth, expected, rtol=1e-6)


def test_label_specific_ngrams_weigh_more_unless_one_text_has_them():
    worth = weigh_ngrams(bundles(TEXTS, 6), rows=6)
    assert worth[1] > worth[3] >= LEAST
    assert worth[2] > worth[3]
    assert worth[0] == worth[4] == pytest.approx(LEAST)


def test_a_text_may_have_several_labels_or_none():
    texts = [([0], ["a", "b"]), ([1], ["b"]), ([1], []), *TEXTS]
    worth = weigh_ngrams(bundles(texts, 3), rows=6)
    expected = [
        max(by_hand(r, label, texts) for label in ("a", "b", "good", "bad")) for r in range(6)
    ]
    np.testing.assert_allclose(worth, expected, rtol=1e-6)
