"""Which runs of tokens tell labels apart, and so are worth learning from.

    r(f, y)  = log [ (1 + n(f, y)) / Σ… ] - log [ (1 + n(f, ¬y)) / Σ… ]     n: texts that hold f
    worth(f) = max over y of (|r| - half its deviation) / ½, between 0.05 and 1

The deviation of r is √(1/(1 + n(f, y)) + 1/(1 + n(f, ¬y))): a run that few texts hold must lean
further before it is believed. After naive Bayes' ratios (Wang and Manning 2012), used to draw
n-grams by as Bingyu and Arefyev 2022 do.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

ENOUGH = 0.5  # a run that leans as far is always learned from
LEAST = 0.05  # ... and one that does not lean, every twentieth time

Worth = NDArray[np.float32]
Bundle = tuple[NDArray[np.int64], NDArray[np.int64], Sequence[Sequence[str]]]
"""Numbers of texts, rows that stand in them, and the labels of each text."""


def worth_learning(bundles: Iterable[Bundle], *, rows: int) -> Worth:
    """Say how much each of ``rows`` is worth, by bundles of labelled texts."""
    held: dict[str, NDArray[np.float64]] = {}
    every = np.zeros(rows)
    for texts, found, labels in bundles:
        pairs = np.unique(texts * rows + found)
        texts, distinct = pairs // rows, pairs % rows
        every += np.bincount(distinct, minlength=rows)
        for label in {label for some in labels for label in some}:
            having = np.array([label in some for some in labels])
            counts = np.bincount(distinct[having[texts]], minlength=rows)
            held.setdefault(label, np.zeros(rows))[:] += counts
    worth = np.zeros(rows)
    for having_label in held.values():
        worth = np.maximum(worth, _leaning(1 + having_label, 1 + every - having_label))
    return (worth / ENOUGH).clip(LEAST, 1.0).astype(np.float32)


def _leaning(true: NDArray[np.float64], false: NDArray[np.float64]) -> NDArray[np.float64]:
    ratio = np.log(true / true.sum()) - np.log(false / false.sum())
    return np.abs(ratio) - 0.5 * np.sqrt(1 / true + 1 / false)
