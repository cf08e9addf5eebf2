"""Cross-validation: the share of the characters, the penalty, and how far to believe the answers.

    K        = (1 - share)·K_words + share·K_characters + z·zᵀ,     K_words = x_words·x_wordsᵀ
    L·Lᵀ     = K                                                            (Cholesky)

Logistic regression depends on texts only through the products K of their vectors, so the rows of L
serve as features: a thousand for a thousand texts, whatever the number of n-grams, and the same for
every fold. Of more texts, a sample decides. The choice is the one whose calibrated answers to
held-out texts have the lowest cross entropy.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.calibration import Calibration, calibrate
from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, Bags
from regard.tasks.baselines.linear_model import (
    Examples,
    LinearModel,
    count_documents,
    find_scale,
    fit,
    mix,
    standardize,
    vectorize,
)
from regard.tasks.baselines.logistic_regression import Matrix, fit_logistic, weighted_sum

SHARES = (0.0, 0.5, 1.0)
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
FOLDS = 5
FEWEST = 25  # texts of which fifths say anything
MOST = 1000  # texts that are cross-validated
WEAKEST = 30  # times lower than a sample's choice
COLUMNS = 64  # of the products computed at once
JITTER = 1e-5


class Choice(NamedTuple):
    """Settings of a baseline, and the calibration of its answers to held-out texts."""

    share: float
    strength: float
    calibration: Calibration


def fit_baseline(examples: Examples, *, exclusive: bool) -> LinearModel:
    """Choose the settings by cross-validation, learn from all examples, and calibrate."""
    characters = bool((examples.bags.rows >= CHARACTER_ROW).any())
    shares = SHARES if characters else SHARES[:1]
    if len(examples.bags) < FEWEST:
        return fit(examples, exclusive=exclusive, share=shares[len(shares) // 2], strength=10.0)
    chosen = choose(examples, shares, exclusive=exclusive)
    if len(examples.bags) > MOST:
        chosen = _weaken(examples, chosen, exclusive=exclusive)
    fitted = fit(examples, exclusive=exclusive, share=chosen.share, strength=chosen.strength)
    return calibrated(fitted, chosen.calibration)


def _weaken(examples: Examples, chosen: Choice, *, exclusive: bool) -> Choice:
    """Try lower strengths, which more texts may need, and calibrate on texts held out."""
    shuffled, tried = _shuffled(len(examples.bags)), []
    held, rest = (examples.select(part) for part in (shuffled[:MOST], shuffled[MOST:]))
    for strength in STRENGTHS:
        if chosen.strength / WEAKEST <= strength <= chosen.strength:
            model = fit(rest, exclusive=exclusive, share=chosen.share, strength=strength)
            logits = model.logits(held.bags, held.numbers)
            calibration = calibrate(logits, held.targets, exclusive=exclusive)
            tried.append(Choice(chosen.share, strength, calibration))
    return min(tried, key=lambda choice: choice.calibration.loss)


def calibrated(model: LinearModel, by: Calibration) -> LinearModel:
    """Apply a calibration to the weights."""
    return replace(
        model,
        weights=by.scale * model.weights,
        numbers=by.scale * model.numbers,
        biases=by.scale * model.biases + by.biases,
    )


def choose(examples: Examples, shares: tuple[float, ...], *, exclusive: bool) -> Choice:
    """Return the settings with the lowest calibrated cross entropy on held-out folds."""
    some = _shuffled(len(examples.bags))[:MOST]
    targets = examples.targets[some]
    best, lowest = None, np.inf
    for share, features in _features(examples, some, shares):
        for strength, logits in _held_out(features, targets, exclusive=exclusive):
            calibration = calibrate(logits, targets, exclusive=exclusive)
            if calibration.loss < lowest:
                lowest, best = calibration.loss, Choice(share, strength, calibration)
    assert best is not None
    return best


def _features(
    examples: Examples, some: NDArray[np.int64], shares: tuple[float, ...]
) -> Iterator[tuple[float, Tensor]]:
    """Return dense features of texts for each share of the characters."""
    rows, idf = count_documents(examples.bags)
    boundary = int(np.searchsorted(rows, CHARACTER_ROW))
    bags = vectorize(examples.bags.select(some), rows, idf)
    words, characters = (_products(mix(bags, boundary, share)) for share in (0.0, 1.0))
    numbers = standardize(examples.numbers, find_scale(examples.numbers))[some].double()
    for share in shares:
        products = (1 - share) * words + share * characters + numbers @ numbers.T
        yield share, torch.linalg.cholesky(products + JITTER * torch.eye(len(some))).float()


def _products(vectors: Bags) -> Tensor:
    """Return the product of every two texts' vectors."""
    rows = np.unique(vectors.rows, return_inverse=True)[1].astype(np.int32)
    vectors = replace(vectors, rows=rows)
    found = torch.empty(len(vectors), len(vectors))
    features = int(rows.max(initial=-1)) + 1
    for begin in range(0, len(vectors), COLUMNS):
        part = vectors.select(np.arange(begin, min(begin + COLUMNS, len(vectors))))
        columns = torch.zeros(features, len(part))
        at = np.repeat(np.arange(len(part)), np.diff(part.offsets))
        columns[part.rows, at] = torch.from_numpy(part.values)
        found[:, begin : begin + COLUMNS] = weighted_sum(columns, vectors)
    return found.double()


def _held_out(
    features: Tensor, targets: Tensor, *, exclusive: bool
) -> Iterator[tuple[float, Tensor]]:
    """Answer every text by a regression on the other folds, for each strength."""
    fold = torch.arange(len(features)) % FOLDS
    found: list[Tensor | None] = [None] * FOLDS
    for strength in STRENGTHS:
        logits = torch.empty_like(targets)
        for number in range(FOLDS):
            held = fold == number
            weights = fit_logistic(
                Matrix(features[~held]),
                targets[~held],
                strength=strength,
                exclusive=exclusive,
                start=found[number],
            )
            found[number] = weights
            logits[held] = features[held] @ weights[:-1] + weights[-1]
        yield strength, logits


def _shuffled(count: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).permutation(count)
