"""A bag that knows how far to believe itself: by what it says of texts that it has not seen.

    logit' = a·logit + b
    a, b   = argmin  Σ over held-out texts of cross entropy + ln² a + ‖b‖²

where n texts' labels count as (n·label + 2·even odds) / (n + 2), so that nothing is ever certain.
Every word of a text it learned from has leaned as that text does; of a new text it knows less than
it thinks, and what it leans to by itself weighs more. So fifths of the texts are told by bags of
the others, and one scale and a bias for each column are fitted to that (after Platt 1999). Of 100
film reviews, 58 of them positive, a bag alone found 89% of new ones positive; so fitted, it does
not.
"""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.bag_of_ngrams import BagOfNgrams, cross_entropy, fit
from regard.tasks.baselines.hashed_ngrams import Bags
from regard.tasks.baselines.lbfgs import descend

FOLDS = 5
ENOUGH = 2000  # held-out texts by which two numbers are known well: of many texts, one fold does
FEWEST = 25  # texts of which fifths say anything
ROUNDS, FLAT = 100, 1e-4


def fit_calibrated(
    bags: Bags,
    targets: Tensor,
    *,
    exclusive: bool,
    trust: float,
    numbers: NDArray[np.float32] | None = None,
) -> BagOfNgrams:
    """Learn from texts as :func:`fit` does, then by folds how far to believe what was learned."""

    def learned(texts: NDArray[np.int64]) -> BagOfNgrams:
        known = None if numbers is None else numbers[texts]
        some = bags.some(texts)
        return fit(some, targets[texts], exclusive=exclusive, trust=trust, numbers=known)

    bag = fit(bags, targets, exclusive=exclusive, trust=trust, numbers=numbers)
    if len(bags) < FEWEST:
        return bag
    every = np.arange(len(bags))
    folds = np.random.default_rng(0).permutation(len(bags)) % FOLDS
    held = every[folds < min(FOLDS, -(-ENOUGH * FOLDS // len(bags)))]
    told = torch.empty(len(bags), targets.shape[1])
    for fold in np.unique(folds[held]):
        out = every[folds == fold]
        seen = None if numbers is None else numbers[out]
        told[out] = learned(every[folds != fold]).logits(bags.some(out), seen)
    scale, biases = calibrate(told[held], targets[held], exclusive=exclusive)
    return replace(
        bag,
        weights=scale * bag.weights,
        numbers=scale * bag.numbers,
        biases=scale * bag.biases + biases,
    )


def calibrate(told: Tensor, true: Tensor, *, exclusive: bool) -> tuple[float, Tensor]:
    """Find the scale and the biases that make what was ``told`` fit what is ``true``."""

    def look(found: Tensor) -> tuple[float, Tensor]:
        loud = found[0].exp() * told
        lost, wrong = cross_entropy(loud + found[1:], true, exclusive=exclusive)
        slope = torch.cat([(wrong * loud).sum()[None], wrong.sum(dim=0)])
        return float(lost + found.square().sum()), slope + 2 * found

    told, true = told.double(), true.double()
    # Two texts more whose label nobody knows: what was right of all is not sure of the next.
    even = 1 / true.shape[1] if exclusive and true.shape[1] > 1 else 0.5
    true = (len(true) * true + 2 * even) / (len(true) + 2)
    found = descend(look, told.new_zeros(1 + told.shape[1]), rounds=ROUNDS, flat=FLAT)
    return float(found[0].exp()), found[1:].float()
