"""Truncation: which part of a text that is too long a model reads.

    head        the first tokens
    head-tail   the first quarter and the last three quarters of what fits (128 + 382 of 512,
                Sun et al. 2019): reviews begin with their topic and end with a verdict
    windows     parts that cover the text; training draws one at a random position

Special tokens are added afterwards.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.store import Store


def head(ids: Sequence[int], most: int) -> list[int]:
    """Return the first ``most``."""
    return list(ids[:most])


def head_tail(ids: Sequence[int], most: int) -> list[int]:
    """Return the first quarter of ``most`` and the last three."""
    if len(ids) <= most:
        return list(ids)
    first = most // 4
    return [*ids[:first], *ids[len(ids) - (most - first) :]]


def windows(ids: Sequence[int], most: int) -> list[list[int]]:
    """Cover a text with the fewest windows of at most ``most``, evenly spaced."""
    count = max(1, -(-len(ids) // most))
    starts = np.linspace(0, max(0, len(ids) - most), count).round().astype(int)
    return [list(ids[start : start + most]) for start in starts]


def draw_window(ids: Sequence[int], most: int, rng: np.random.Generator) -> list[int]:
    """Draw a window of ``most`` at a random position."""
    start = int(rng.integers(max(0, len(ids) - most) + 1))
    return list(ids[start : start + most])


class Fitted(NamedTuple):
    """A store with the lengths that rows have after truncation."""

    store: Store
    longest: int

    def __len__(self) -> int:
        return len(self.store)

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these examples, one column per field."""
        return np.minimum(self.store.lengths(numbers), self.longest)
