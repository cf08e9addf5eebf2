"""Spans: rows of plain text as a model reads them, [CLS] in front and [SEP] behind.

packed    [CLS] window [SEP]        documents one after another, cut without regard to them
pairs     [CLS] A [SEP] B [SEP]     see :mod:`regard.data.sentence_pairs`
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import AnyStream
from regard.data.windows import Windows, cut_out
from regard.text.special import CLS, SEP

UNASKED = -1
"""Stands where nothing is asked: no target, no label."""


class Plain(NamedTuple):
    """Rows of ids as they were written."""

    ids: NDArray[np.int64]
    """Axes: row, position."""
    lengths: NDArray[np.int64]
    segments: NDArray[np.int64]
    """Which span each token belongs to: 0 or 1."""
    labels: NDArray[np.int64]
    """What is true of a row's two spans: 1 or 0; -1 where there is one span only."""


@runtime_checkable
class Corpus(Protocol):
    """Documents of which rows can be made."""

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Say which rows come at which step."""
        ...

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> Plain:
        """Make the rows of these numbers."""
        ...

    def every(self) -> NDArray[np.int64]:
        """Numbers of rows that together show everything once."""
        ...


class Spans:
    """Windows of all documents one after another.

    Args:
        ids: The documents, each closed by [SEP].
        longest: Tokens in one row, [CLS] and [SEP] included.

    """

    def __init__(self, ids: NDArray[np.uint32], *, longest: int) -> None:
        self.ids, self.longest = ids, longest
        self.window = min(max(1, longest - 2), len(ids))

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Say where the windows of each step begin."""
        within = max(1, batch_tokens // self.longest) * self.window
        return Windows(len(self.ids), context=self.window, seed=seed, batch_tokens=within)

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> Plain:
        """Cut out the windows that begin at ``numbers``."""
        ids = cut_out(self.ids, numbers, context=self.window, before=CLS)
        ids[:, 0] = CLS
        ids = np.pad(ids, ((0, 0), (0, 1)), constant_values=SEP)
        lengths = np.full(len(ids), ids.shape[1])
        return Plain(ids, lengths, np.zeros_like(ids), np.full(len(ids), UNASKED))

    def every(self) -> NDArray[np.int64]:
        """Where windows begin that follow on one another; less than a window is left over."""
        return np.arange(0, len(self.ids) - self.window + 1, self.window)
