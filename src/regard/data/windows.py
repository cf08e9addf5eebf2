"""Windows: one long text, cut into pieces of equal length to learn from or to be measured on.

    joined = END, ids(0), ids(1), …        documents stand one after another, END between them
    window(b) = joined[b : b + context]    asked for ids[b : b + context]

Learning, each epoch cuts the whole text anew, from an offset of its own and in an order of its own,
both drawn from (seed, purpose, epoch): which windows come at step s is a pure function of the seed
and s. Measuring, windows overlap, and only what has enough past in its window is counted.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import Place
from regard.randomness import Purpose, derive_generator


class Windows:
    """Steps without end over one text; a number is the place in the text where a window begins.

    Args:
        length: Tokens there are to predict.
        context: Tokens in one window.
        seed: Offsets and orders are derived from it.
        batch_tokens: Most tokens in one step; a window that is longer stands alone.

    """

    def __init__(self, length: int, *, context: int, seed: int, batch_tokens: int) -> None:
        assert length >= context, "the task refuses a text shorter than a window"
        self.context, self.seed = context, seed
        # One context less, so that any offset leaves the same number of windows.
        self.windows = max(1, (length - context + 1) // context)
        self._offsets = min(context, length - self.windows * context + 1)
        self.rows = min(max(1, batch_tokens // context), self.windows)
        self.steps_per_epoch = self.windows // self.rows
        self._cut = lru_cache(maxsize=2)(self._begins)

    def place(self, step: int) -> Place:
        """Which epoch a step stands in, and where."""
        return Place(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Where the windows of one step begin."""
        epoch, within = self.place(step)
        return self._cut(epoch)[within * self.rows : (within + 1) * self.rows]

    def share(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Where the windows of one step begin that fall to one shard: every ``shards``-th."""
        return self[step][shard::shards]

    def _begins(self, epoch: int) -> NDArray[np.int64]:
        rng = derive_generator(self.seed, Purpose.WINDOW_CUTS, epoch)
        offset = int(rng.integers(self._offsets))
        return offset + self.context * rng.permutation(self.windows)


def cut_out(
    ids: NDArray[np.uint32], begins: NDArray[np.int64], *, context: int, before: int
) -> NDArray[np.int64]:
    """Give each window's ids with the one before it; ``before`` stands before the first."""
    places = begins[:, None] + np.arange(-1, context)
    found = ids[np.maximum(places, 0)].astype(np.int64)
    found[places < 0] = before
    return found


def sliding(length: int, *, context: int, stride: int) -> list[tuple[int, int]]:
    """Cover a text: (where a window begins, how many of its first tokens others have counted).

    Windows begin ``stride`` apart and the last one ends with the text, so that every token is
    counted once, with at least ``context - stride`` tokens of its past in the window where there
    are so many.
    """
    found, counted, begin = [], 0, 0
    while counted < length:
        begin = max(0, min(begin, length - context))
        found.append((begin, counted - begin))
        counted = min(begin + context, length)
        begin += stride
    return found
