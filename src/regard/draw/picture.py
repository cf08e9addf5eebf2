"""A heat map as data: words along two sides, and a weight for each pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = Sequence[Sequence[float | int]] | NDArray[np.floating]
"""Weights by row and column, as nested lists or an array."""


@dataclass(frozen=True)
class Picture:
    """One map: each row attends, each column is attended to."""

    rows: Sequence[str]
    """What attends (in cross-attention: the target)."""
    columns: Sequence[str]
    """What is attended to (in cross-attention: the source)."""
    weights: Matrix
    """Not negative. In attention a row sums to one."""
    title: str = ""
    """One line above the map."""


def make_matrix(picture: Picture) -> NDArray[np.float64]:
    """Return the weights as an array; refuse those that do not fit the words."""
    shape = (len(picture.rows), len(picture.columns))
    weights = np.asarray(picture.weights, dtype=np.float64)
    weights = weights.reshape(shape) if weights.size == 0 else weights
    if weights.shape != shape:
        raise ValueError(
            f"a map needs one weight for every row and column. Got weights of shape "
            f"{weights.shape} for {shape[0]} rows and {shape[1]} columns."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "a map shows finite weights that are not negative. Got "
            f"{weights.min()} to {weights.max()}; draw absolute values, or two maps, instead."
        )
    return weights


def find_peak(weights: NDArray[np.float64]) -> float:
    """Return the highest weight, which gets the full colour (1 if all are zero)."""
    return float(weights.max(initial=0.0)) or 1.0
