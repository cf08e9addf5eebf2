"""Naive-Bayes ratios: how much each n-gram speaks for a label, by counting alone.

    p(f | y) = (1 + Σ y) / Σ over n-grams of the same,   r(f, y) = ln [p(f | y) / p(f | not y)]

Σ y sums the targets of the texts that hold the n-gram f. A regression whose features are multiplied
by their ratios needs less evidence to trust an n-gram that differs between the labels (Wang and
Manning 2012).
"""

from dataclasses import replace

import numpy as np
from torch import Tensor

from regard.tasks.baselines.hashed_ngrams import Bags
from regard.tasks.baselines.logistic_regression import transpose, weighted_sum


def find_ratios(vectors: Bags, features: int, targets: Tensor) -> Tensor:
    """Return the ratio of each feature for each column of the targets."""
    present = replace(vectors, values=np.ones_like(vectors.values))
    texts = transpose(present, features)
    true, false = (1 + weighted_sum(some, texts) for some in (targets, 1 - targets))
    return (true / true.sum(dim=0)).log() - (false / false.sum(dim=0)).log()
