"""Naive-Bayes ratios: against counting by hand, and as factors of a regression's features."""

import numpy as np
import pytest
import torch

from regard.tasks.baselines.hashed_ngrams import Bags, Ngrams, hash_ngrams
from regard.tasks.baselines.linear_model import Design, Examples, find_vocabulary
from regard.tasks.baselines.logistic_regression import Matrix, fit_logistic
from regard.tasks.baselines.naive_bayes import find_ratios

RANDOM = np.random.default_rng(11)


def test_ratios_are_those_of_naive_bayes():
    texts = [[0, 1], [0], [1, 2], [2, 3]]
    rows = np.asarray([row for text in texts for row in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    vectors = Bags(rows, offsets, np.full(len(rows), 7.0, np.float32))
    found = find_ratios(vectors, 4, torch.tensor([[1.0], [1.0], [0.0], [0.0]]))
    true, false = np.asarray([3, 2, 1, 1]) / 7, np.asarray([1, 2, 3, 2]) / 8
    np.testing.assert_allclose(found[:, 0].numpy(), np.log(true / false), rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 3])
def test_the_regression_is_one_on_features_times_their_ratios(columns):
    texts = [" ".join(RANDOM.choice(list("abcdefghij"), size=7)) for _ in range(53)]
    targets = torch.eye(3)[RANDOM.integers(3, size=53)][:, :columns].float()
    bags = hash_ngrams(texts, Ngrams(1, False))
    numbers = RANDOM.normal(size=(53, 2)).astype(np.float32)
    design = Design(Examples(bags, numbers, targets), 0.0)
    regression = design.regression(exclusive=False, bayes=True)
    found = regression.fit(3.0, flat=1e-5)
    for column in range(columns):
        ratios = find_ratios(design.vectors, len(design.rows), targets)[:, column].numpy()
        scaled = design.vectors
        scaled = Bags(scaled.rows, scaled.offsets, scaled.values * ratios[scaled.rows])
        weights = fit_logistic(
            Matrix(design.numbers, scaled, len(ratios)),
            targets[:, column : column + 1],
            strength=3.0,
            exclusive=False,
            flat=1e-5,
        )[:, 0]
        expected = weights.clone()
        expected[: len(ratios)] *= torch.from_numpy(ratios)
        torch.testing.assert_close(found[:, column], expected, atol=2e-3, rtol=0)


def test_rare_ngrams_count_more_in_texts_but_not_in_pairs():
    bags = hash_ngrams(["a b", "a c", "a"], Ngrams(1, False))
    targets = torch.zeros(3, 1)
    _, idf = find_vocabulary(Examples(bags, np.zeros((3, 0), np.float32), targets))
    _, flat = find_vocabulary(Examples(bags, np.ones((3, 2), np.float32), targets))
    assert idf.max() > idf.min() and flat.tolist() == [1, 1, 1]
