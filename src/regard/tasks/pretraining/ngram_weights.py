"""Sampling weights of n-grams: those that discriminate between labels are sampled more often.

    r(f, y)   = log [ (1 + n(f, y)) / Σ… ] - log [ (1 + n(f, ¬y)) / Σ… ]     n: texts that contain f
    weight(f) = max over y of (|r| - half its standard deviation) / ½, between 0.05 and 1

The standard deviation of r is √(1/(1 + n(f, y)) + 1/(1 + n(f, ¬y))), so that a rare n-gram needs a
larger ratio. Naive Bayes' log-count ratios (Wang and Manning 2012), used for n-gram subsampling as
by Bingyu and Arefyev 2022.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

ENOUGH = 0.5  # ratio from which on an n-gram is always sampled
LEAST = 0.05  # weight of an n-gram without a ratio

Weights = NDArray[np.float32]
Bundle = tuple[NDArray[np.int64], NDArray[np.int64], Sequence[Sequence[str]]]
"""Numbers of texts, their n-grams as rows, and the labels of each text."""


def weigh_ngrams(bundles: Iterable[Bundle], *, rows: int) -> Weights:
    """Compute the weight of each of ``rows`` n-grams from labelled texts."""
    counted: dict[str, NDArray[np.float64]] = {}
    every = np.zeros(rows)
    for texts, found, labels in bundles:
        pairs = np.unique(texts * rows + found)
        texts, distinct = pairs // rows, pairs % rows
        every += np.bincount(distinct, minlength=rows)
        for label in {label for some in labels for label in some}:
            having = np.array([label in some for some in labels])
            counts = np.bincount(distinct[having[texts]], minlength=rows)
            counted.setdefault(label, np.zeros(rows))[:] += counts
    weights = np.zeros(rows)
    for having_label in counted.values():
        weights = np.maximum(weights, _log_count_ratios(1 + having_label, 1 + every - having_label))
    return (weights / ENOUGH).clip(LEAST, 1.0).astype(np.float32)


def _log_count_ratios(true: NDArray[np.float64], false: NDArray[np.float64]) -> NDArray[np.float64]:
    ratio = np.log(true / true.sum()) - np.log(false / false.sum())
    return np.abs(ratio) - 0.5 * np.sqrt(1 / true + 1 / false)
