"""Logistic regression against scikit-learn in float64; L-BFGS; sparse against dense."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from regard.tasks.baselines.hashed_ngrams import Bags
from regard.tasks.baselines.lbfgs import descend
from regard.tasks.baselines.logistic_regression import Matrix, cross_entropy, fit_logistic

RANDOM = np.random.default_rng(5)


def draw(texts=53, sparse=17, dense=3):
    """Draw a sparse part, a dense part and both as one array."""
    full = RANDOM.normal(size=(texts, sparse)) * (RANDOM.random((texts, sparse)) < 0.3)
    full = full.astype(np.float32).astype(float)
    at = [np.flatnonzero(row) for row in full]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in at])])
    values = np.concatenate([row[own] for row, own in zip(full, at, strict=True)])
    bags = Bags(np.concatenate(at).astype(np.int32), offsets, values.astype(np.float32))
    numbers = RANDOM.normal(size=(texts, dense))
    return bags, torch.from_numpy(numbers), np.concatenate([full, numbers], axis=1)


@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("strength", [0.7, 19.0])
def test_weights_are_those_of_scikit_learn(labels, strength):
    bags, numbers, full = draw()
    true = RANDOM.integers(labels, size=len(full))
    targets = torch.from_numpy(np.eye(labels)[true])
    targets = targets[:, 1:] if labels == 2 else targets
    found = fit_logistic(
        Matrix(numbers, bags, 17),
        targets,
        strength=strength,
        exclusive=True,
        rounds=2000,
        flat=1e-9,
    )
    theirs = LogisticRegression(C=strength, tol=1e-10, max_iter=5000).fit(full, true)
    np.testing.assert_allclose(found[:-1].T, theirs.coef_, atol=1e-5)
    biases = found[-1].numpy()
    expected = theirs.intercept_
    np.testing.assert_allclose(biases - biases.mean(), expected - expected.mean(), atol=1e-5)


def test_labels_that_are_not_exclusive_are_regressions_of_their_own():
    bags, numbers, _ = draw()
    matrix, targets = Matrix(numbers, bags, 17), torch.from_numpy(RANDOM.random((53, 3)))
    settings = {"strength": 2.0, "exclusive": False, "rounds": 2000, "flat": 1e-10}
    every = fit_logistic(matrix, targets, **settings)
    for column in range(3):
        own = fit_logistic(matrix, targets[:, column : column + 1], **settings)
        torch.testing.assert_close(every[:, column], own[:, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("columns", "exclusive"), [(1, True), (3, True), (3, False)])
def test_the_gradient_is_that_of_the_cross_entropy(columns, exclusive):
    logits = torch.from_numpy(RANDOM.normal(size=(7, columns))).requires_grad_()
    targets = torch.from_numpy(RANDOM.random((7, columns)))
    if exclusive and columns > 1:
        targets = targets / targets.sum(dim=1, keepdim=True)
    lost, errors = cross_entropy(logits, targets, exclusive=exclusive)
    lost.backward()
    torch.testing.assert_close(errors.detach(), logits.grad)


def test_lbfgs_finds_the_minimum_of_a_narrow_valley():
    def objective(x):
        a, b = x[0], x[1]
        value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        gradient = torch.stack([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
        return float(value), gradient

    start = torch.tensor([-1.2, 1.0], dtype=torch.double)
    found = descend(objective, start, rounds=200, flat=1e-9)
    torch.testing.assert_close(found, torch.ones(2, dtype=torch.double), rtol=1e-5, atol=1e-5)
