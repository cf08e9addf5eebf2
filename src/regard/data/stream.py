"""The stream: the examples of each step, a pure function of (seed, step).

A large corpus is divided into windows, every n-th example in the same one; within a window,
examples are sorted by length and cut into batches. The lengths in batch n never change, so every
epoch has the same number of steps, and the epoch of a step is found by division. Which examples of
these lengths are in the batch, and the order of batches, are drawn for each epoch from (seed,
purpose, epoch). Resuming seeks and never replays, and memory is bounded by one window.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import cut_batches
from regard.randomness import Purpose, derive_generator

WINDOW = 1 << 20  # examples sorted at once: 8 MB of numbers


class StepPosition(NamedTuple):
    """Epoch of a step, and its number within the epoch."""

    epoch: int
    step: int
    """Counted from 0 in each epoch."""


@runtime_checkable
class AnyStream(Protocol):
    """The numbers of each step; the task decides what a number means."""

    steps_per_epoch: int

    def locate(self, step: int) -> StepPosition:
        """Return the epoch of a step, and its number there."""
        ...

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Return the numbers of one step."""
        ...

    def select_shard(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Return the numbers of one step that belong to one shard."""
        ...


@runtime_checkable
class HasLengths(Protocol):
    """Examples with known lengths, such as a store."""

    def __len__(self) -> int: ...

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these examples, one column per field."""
        ...


class Stream:
    """Endless steps over one store.

    Args:
        store: The examples.
        seed: All orders are derived from it.
        batch_tokens: At most this many tokens of the longer field per step, with padding.
        window: How many examples are sorted by length at once.

    """

    def __init__(
        self, store: HasLengths, *, seed: int, batch_tokens: int, window: int = WINDOW
    ) -> None:
        self.store, self.seed, self.batch_tokens = store, seed, batch_tokens
        self.windows = -(-len(store) // window)
        self._steps = [len(self._cut_window(number)) - 1 for number in range(self.windows)]
        self.steps_per_epoch = sum(self._steps)
        self._sorted = lru_cache(maxsize=1)(self._sort_window)
        self._shuffled = lru_cache(maxsize=2)(self._shuffle_parts)

    def locate(self, step: int) -> StepPosition:
        """Return the epoch of a step, and its number there."""
        return StepPosition(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Return the numbers of the examples of one step."""
        epoch, within = self.locate(step)
        number, part = self._shuffled(epoch)[within]
        rows = self._sorted(epoch, int(number))
        cuts = self._cut_window(int(number))
        return rows[cuts[part] : cuts[part + 1]]

    def select_shard(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Return the numbers of one step that belong to one shard: every ``shards``-th."""
        return self[step][shard::shards]

    def _shuffle_parts(self, epoch: int) -> NDArray[np.int64]:
        """Return every (window, batch) of an epoch: shuffled windows, shuffled batches in each."""
        rng = derive_generator(self.seed, Purpose.EXAMPLE_ORDER, epoch)
        pairs = []
        for number in rng.permutation(self.windows):
            parts = rng.permutation(self._steps[number])
            pairs.append(np.stack([np.full_like(parts, number), parts], axis=1))
        return np.concatenate(pairs)

    def _list_members(self, number: int) -> NDArray[np.int64]:
        return np.arange(number, len(self.store), self.windows)

    def _sort_window(self, epoch: int, number: int) -> NDArray[np.int64]:
        """Sort one window by length: the longest field, then the others, ties at random."""
        members = self._list_members(number)
        rng = derive_generator(self.seed, Purpose.BATCH_TIES, epoch, number)
        ties = rng.permutation(len(members))
        lengths = self.store.lengths(members)
        keys = (ties, *lengths.T, lengths.max(axis=1))
        return members[np.lexsort(keys)]

    @lru_cache(maxsize=8)  # noqa: B019 - a stream lives as long as its training
    def _cut_window(self, number: int) -> NDArray[np.int64]:
        longest = np.sort(self.store.lengths(self._list_members(number)).max(axis=1))
        return cut_batches(longest, budget=self.batch_tokens)
