"""Windows: one long text, cut into pieces of equal length for training and evaluation.

    joined = END, ids(0), ids(1), …        documents are concatenated, END between them
    window(b) = joined[b : b + context]    its targets are ids[b : b + context]

In training, each epoch cuts the text at another offset and shuffles the windows; offset and order
are drawn from (seed, purpose, epoch), so the windows of step s are a pure function of the seed and
s. In evaluation, windows overlap, and only tokens with enough context are scored.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import StepPosition
from regard.randomness import Purpose, derive_generator


class Windows:
    """Endless steps over one text; a number is the index at which a window starts.

    Args:
        length: Number of tokens to predict.
        context: Tokens in one window.
        seed: Offsets and orders are derived from it.
        batch_tokens: At most this many tokens per step; a longer window is a step of its own.

    """

    def __init__(self, length: int, *, context: int, seed: int, batch_tokens: int) -> None:
        assert length >= context, "the task refuses a text shorter than a window"
        self.context, self.seed = context, seed
        # One context less, so that every offset leaves the same number of windows.
        self.windows = max(1, (length - context + 1) // context)
        self._offsets = min(context, length - self.windows * context + 1)
        self.rows = min(max(1, batch_tokens // context), self.windows)
        self.steps_per_epoch = self.windows // self.rows
        self._cut = lru_cache(maxsize=2)(self._draw_begins)

    def locate(self, step: int) -> StepPosition:
        """Return the epoch of a step, and its number there."""
        return StepPosition(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Return where the windows of one step start."""
        epoch, within = self.locate(step)
        return self._cut(epoch)[within * self.rows : (within + 1) * self.rows]

    def select_shard(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Return where the windows of one shard start: every ``shards``-th."""
        return self[step][shard::shards]

    def _draw_begins(self, epoch: int) -> NDArray[np.int64]:
        rng = derive_generator(self.seed, Purpose.WINDOW_CUTS, epoch)
        offset = int(rng.integers(self._offsets))
        return offset + self.context * rng.permutation(self.windows)


def cut_windows(
    ids: NDArray[np.uint32], begins: NDArray[np.int64], *, context: int, before: int
) -> NDArray[np.int64]:
    """Return the ids of each window and the one before it; ``before`` precedes the text."""
    places = begins[:, None] + np.arange(-1, context)
    found = ids[np.maximum(places, 0)].astype(np.int64)
    found[places < 0] = before
    return found


def slide_windows(length: int, *, context: int, stride: int) -> list[tuple[int, int]]:
    """Cover a text with overlapping windows: (start, how many first tokens are already scored).

    Windows start ``stride`` apart and the last one ends with the text. So every token is scored
    once, with at least ``context - stride`` tokens of context where the text has them.
    """
    found, counted, begin = [], 0, 0
    while counted < length:
        begin = max(0, min(begin, length - context))
        found.append((begin, counted - begin))
        counted = min(begin + context, length)
        begin += stride
    return found
