"""Batches: examples of similar length, padded, up to a budget of tokens.

Examples are sorted by length and cut wherever ``rows × longest`` would exceed the budget. So there
is little padding: under 5% on real translations at 4,096 tokens, against half in random batches.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from regard.data.store import Store


class Padded(NamedTuple):
    """One field of a batch."""

    ids: Int[Tensor, "row position"]
    lengths: Int[Tensor, " row"]

    @property
    def tokens(self) -> int:
        """How many of the ids are not padding."""
        return int(self.lengths.sum())

    def to(self, device: torch.device) -> "Padded":
        """Put both tensors on a device; they are not copied if they are there."""
        return Padded(self.ids.to(device), self.lengths.to(device))


class Batch(NamedTuple):
    """Several examples, padded field by field."""

    fields: tuple[Padded, ...]
    numbers: NDArray[np.int64]
    """Numbers of the examples in the store, for error messages."""

    def to(self, device: torch.device) -> "Batch":
        """Put every field on a device."""
        return Batch(tuple(field.to(device) for field in self.fields), self.numbers)


def pad(rows: Sequence[NDArray[np.uint32] | list[int]], *, filler: int) -> Padded:
    """Pad rows of different lengths to the longest."""
    lengths = [len(row) for row in rows]
    ids = np.full((len(rows), max(lengths, default=0)), filler, dtype=np.int64)
    for place, row in zip(ids, rows, strict=True):
        place[: len(row)] = row
    return Padded(torch.from_numpy(ids), torch.tensor(lengths))


def collate(store: Store, numbers: NDArray[np.int64], *, filler: int) -> Batch:
    """Read these examples from the store and pad them field by field."""
    examples = [store[int(number)] for number in numbers]
    fields = tuple(pad(list(rows), filler=filler) for rows in zip(*examples, strict=True))
    return Batch(fields, numbers)


def cut_batches(lengths: NDArray[np.int64], *, budget: int) -> NDArray[np.int64]:
    """Find where to cut rows sorted by length, so that every batch fits the budget.

    ``lengths`` are those of each row's longest field, ascending but for ties broken elsewhere.
    A row longer than the budget is a batch of its own.
    """
    cuts, begin, longest = [0], 0, 0
    for row, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        if row > begin and (row + 1 - begin) * longest > budget:
            cuts.append(row)
            begin, longest = row, length
    cuts.append(len(lengths))
    return np.asarray(cuts, dtype=np.int64)
