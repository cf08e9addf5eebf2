"""The stream: which examples come at which step, a pure function of (seed, step).

A corpus of many examples is dealt out into windows like cards, every n-th to the same one; within
a window examples are sorted by length and cut into batches. Which lengths stand in batch n never
changes, so every epoch has the same number of steps and step s is found by division; which examples
of those lengths stand there, and the order of the batches, are drawn anew each epoch from (seed,
purpose, epoch). Resuming is a seek, never a replay, and memory is bounded by one window.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import cut
from regard.randomness import Purpose, derive_generator

WINDOW = 1 << 20  # examples sorted at once: 8 MB of numbers


class Place(NamedTuple):
    """Where a step stands."""

    epoch: int
    step: int
    """Counted from the epoch's own beginning."""


@runtime_checkable
class AnyStream(Protocol):
    """Which numbers come at which step; what a number stands for is the task's to say."""

    steps_per_epoch: int

    def place(self, step: int) -> Place:
        """Which epoch a step stands in, and where."""
        ...

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Numbers of one step."""
        ...

    def share(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Numbers of one step that fall to one shard."""
        ...


@runtime_checkable
class OfLengths(Protocol):
    """Examples whose lengths are known; a store is one."""

    def __len__(self) -> int: ...

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these examples, one column per field."""
        ...


class Stream:
    """Steps without end over one store.

    Args:
        store: The examples.
        seed: Every order is derived from it.
        batch_tokens: Most tokens of the longer field in one step, padding included.
        window: How many examples are sorted by length at once.

    """

    def __init__(
        self, store: OfLengths, *, seed: int, batch_tokens: int, window: int = WINDOW
    ) -> None:
        self.store, self.seed, self.batch_tokens = store, seed, batch_tokens
        self.windows = -(-len(store) // window)
        self._steps = [len(self._cuts(number)) - 1 for number in range(self.windows)]
        self.steps_per_epoch = sum(self._steps)
        self._sorted = lru_cache(maxsize=1)(self._sort)
        self._shuffled = lru_cache(maxsize=2)(self._shuffle)

    def place(self, step: int) -> Place:
        """Which epoch a step stands in, and where."""
        return Place(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Numbers of the examples of one step."""
        epoch, within = self.place(step)
        number, part = self._shuffled(epoch)[within]
        rows = self._sorted(epoch, int(number))
        cuts = self._cuts(int(number))
        return rows[cuts[part] : cuts[part + 1]]

    def share(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Numbers of the examples of one step that fall to one shard: every ``shards``-th."""
        return self[step][shard::shards]

    def _shuffle(self, epoch: int) -> NDArray[np.int64]:
        """Every (window, part) of an epoch, window after window, parts shuffled within each."""
        rng = derive_generator(self.seed, Purpose.EXAMPLE_ORDER, epoch)
        pairs = []
        for number in rng.permutation(self.windows):
            parts = rng.permutation(self._steps[number])
            pairs.append(np.stack([np.full_like(parts, number), parts], axis=1))
        return np.concatenate(pairs)

    def _members(self, number: int) -> NDArray[np.int64]:
        return np.arange(number, len(self.store), self.windows)

    def _sort(self, epoch: int, number: int) -> NDArray[np.int64]:
        """One window by length: longest field first, then the others, ties at random."""
        members = self._members(number)
        rng = derive_generator(self.seed, Purpose.BATCH_TIES, epoch, number)
        ties = rng.permutation(len(members))
        lengths = self.store.lengths(members)
        keys = (ties, *lengths.T, lengths.max(axis=1))
        return members[np.lexsort(keys)]

    @lru_cache(maxsize=8)  # noqa: B019 - a stream lives as long as its training
    def _cuts(self, number: int) -> NDArray[np.int64]:
        longest = np.sort(self.store.lengths(self._members(number)).max(axis=1))
        return cut(longest, budget=self.batch_tokens)
