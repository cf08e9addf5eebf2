"""Cross-validation: features, penalty, naive-Bayes ratios, and how far to believe the answers.

    K        = (1 - share)·K_words + share·K_characters + z·zᵀ,     K_words = x_words·x_wordsᵀ
    L·Lᵀ     = K                                                            (Cholesky)

Plain logistic regression depends on texts only through the products K of their vectors, so the rows
of L serve as features: a thousand for a thousand texts, whatever the number of n-grams, and the
same for every fold. The share of the characters that does best is then tried with naive-Bayes
ratios, which every fold counts anew. The answer is the plain regression's, the other's, or the
mean of both, each calibrated: the one with the lowest cross entropy on held-out texts.

Of more texts, a sample decides on the share. Texts held out of all decide on the rest.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.calibration import Calibration, calibrate, smoothed
from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, Bags
from regard.tasks.baselines.linear_model import (
    Design,
    Examples,
    LinearModel,
    find_scale,
    find_vocabulary,
    fit,
    mix,
    standardize,
    vectorize,
)
from regard.tasks.baselines.logistic_regression import (
    ROUGH,
    Matrix,
    cross_entropy,
    fit_logistic,
    weighted_sum,
)

SHARES = (0.0, 0.5, 1.0)
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
BAYES_STRENGTHS = (10.0, 100.0)  # tried on few texts; of many, the first is where to begin
FOLDS = 5
FEWEST = 25  # texts of which fifths say anything
MOST = 1000  # texts that are cross-validated, or held out
MANY = 2000  # texts of which a part is held out
COLUMNS = 64  # of the products computed at once
JITTER = 1e-5


class Member(NamedTuple):
    """A regression's settings, and its calibrated answers to held-out texts."""

    bayes: bool
    strength: float
    calibration: Calibration
    logits: Tensor


class Choice(NamedTuple):
    """Settings of a baseline: the best plain regression, and the best one with ratios."""

    share: float
    members: list[Member]


def fit_baseline(examples: Examples, *, exclusive: bool) -> LinearModel:
    """Choose the settings by cross-validation, learn from all examples, and calibrate."""
    characters = bool((examples.bags.rows >= CHARACTER_ROW).any())
    shares = SHARES if characters else SHARES[:1]
    if len(examples.bags) < FEWEST:
        return fit(examples, exclusive=exclusive, share=shares[len(shares) // 2], strength=10.0)
    some = _shuffled(len(examples.bags))[:MOST]
    chosen = choose(examples, some, shares, exclusive=exclusive)
    if len(examples.bags) > MANY:
        some = some[: len(examples.bags) // 4]
        chosen = _refine(examples, some, chosen, exclusive=exclusive)
    members = select(chosen.members, examples.targets[some], exclusive=exclusive)
    design = Design(examples, chosen.share)
    return average([_learn(design, member, exclusive=exclusive) for member in members])


def choose(
    examples: Examples, some: NDArray[np.int64], shares: tuple[float, ...], *, exclusive: bool
) -> Choice:
    """Return the settings with the lowest calibrated cross entropy on folds of some texts."""
    targets = examples.targets[some]
    share, plain = min(
        (
            (share, _calibrated(False, strength, logits, targets, exclusive=exclusive))
            for share, features in _features(examples, some, shares)
            for strength, logits in _held_out(features, targets, exclusive=exclusive)
        ),
        key=lambda one: one[1].calibration.loss,
    )
    if len(examples.bags) > MANY:
        return Choice(share, [plain, plain._replace(bayes=True, strength=BAYES_STRENGTHS[0])])
    design = Design(examples.select(some), share)
    bayes = min(
        (
            _calibrated(True, strength, logits, targets, exclusive=exclusive)
            for strength, logits in _held_out_bayes(design, exclusive=exclusive)
        ),
        key=lambda member: member.calibration.loss,
    )
    return Choice(share, [plain, bayes])


def select(members: list[Member], targets: Tensor, *, exclusive: bool) -> list[Member]:
    """Return those whose mean has the lowest cross entropy: one member, or all of them."""

    def lost(some: list[Member]) -> float:
        logits = torch.stack([member.logits for member in some]).mean(dim=0)
        return float(cross_entropy(logits, smooth, exclusive=exclusive)[0])

    smooth = smoothed(targets, exclusive=exclusive)
    return min([members, *([one] for one in members)], key=lost)


def average(models: list[LinearModel]) -> LinearModel:
    """Return the model whose logits are the mean of those of models of one design."""
    means = {
        name: torch.stack([getattr(model, name) for model in models]).mean(dim=0)
        for name in ("weights", "numbers", "biases")
    }
    return replace(models[0], **means)


def _refine(
    examples: Examples, some: NDArray[np.int64], chosen: Choice, *, exclusive: bool
) -> Choice:
    """Choose the strengths for many texts, and calibrate, on ``some`` that are held out."""
    held = examples.select(some)
    rest = np.setdiff1d(np.arange(len(examples.bags)), some)
    design = Design(examples.select(rest), chosen.share)
    climbed = [_climb(design, held, member, exclusive=exclusive) for member in chosen.members]
    return Choice(chosen.share, climbed)


def _climb(design: Design, held: Examples, member: Member, *, exclusive: bool) -> Member:
    """Lower or raise the strength for as long as that lowers the cross entropy."""

    def attempt(at: int) -> Member:
        strength = STRENGTHS[at]
        logits = design.model(regression.fit(strength)).logits(held.bags, held.numbers)
        return _calibrated(member.bayes, strength, logits, held.targets, exclusive=exclusive)

    regression = design.regression(exclusive=exclusive, bayes=member.bayes)
    start = STRENGTHS.index(member.strength)
    best = attempt(start)
    for step in (-1, 1):
        at = start + step
        while 0 <= at < len(STRENGTHS):
            found = attempt(at)
            if found.calibration.loss >= best.calibration.loss:
                break
            best, at = found, at + step
        if best.strength != member.strength:
            break
    return best


def _learn(design: Design, member: Member, *, exclusive: bool) -> LinearModel:
    """Learn from all examples, and apply the calibration."""
    regression = design.regression(exclusive=exclusive, bayes=member.bayes)
    model, by = design.model(regression.fit(member.strength)), member.calibration
    return replace(
        model,
        weights=by.scale * model.weights,
        numbers=by.scale * model.numbers,
        biases=by.scale * model.biases + by.biases,
    )


def _calibrated(
    bayes: bool, strength: float, logits: Tensor, targets: Tensor, *, exclusive: bool
) -> Member:
    by = calibrate(logits, targets, exclusive=exclusive)
    return Member(bayes, strength, by, by.scale * logits + by.biases)


def _features(
    examples: Examples, some: NDArray[np.int64], shares: tuple[float, ...]
) -> Iterator[tuple[float, Tensor]]:
    """Return dense features of texts for each share of the characters."""
    rows, idf = find_vocabulary(examples)
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
                flat=ROUGH,
            )
            found[number] = weights
            logits[held] = features[held] @ weights[:-1] + weights[-1]
        yield strength, logits


def _held_out_bayes(design: Design, *, exclusive: bool) -> Iterator[tuple[float, Tensor]]:
    """Answer every text by a regression with the ratios of the other folds, for each strength."""
    targets, folds = design.examples.targets, np.arange(len(design.numbers)) % FOLDS
    logits = {strength: torch.empty_like(targets) for strength in BAYES_STRENGTHS}
    for number in range(FOLDS):
        held, rest = (np.flatnonzero(folds == number), np.flatnonzero(folds != number))
        regression = design.regression(exclusive=exclusive, bayes=True, texts=rest)
        asked = Matrix(design.numbers[held], design.vectors.select(held), len(design.rows))
        for strength in BAYES_STRENGTHS:
            weights = regression.fit(strength, flat=ROUGH)
            logits[strength][held] = asked.times(weights[:-1]) + weights[-1]
    yield from logits.items()


def _shuffled(count: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).permutation(count)
