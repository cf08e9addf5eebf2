"""Spans: rows of plain text for masked pretraining, framed by [CLS] and [SEP].

packed    [CLS] window [SEP]        windows of the concatenated documents
pairs     [CLS] A [SEP] B [SEP]     see :mod:`regard.data.sentence_pairs`
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import AnyStream
from regard.data.windows import Windows, cut_windows
from regard.text.special import CLS, SEP

IGNORED = -1
"""Target or label of what has no loss."""


class SpanRows(NamedTuple):
    """Rows of ids before masking."""

    ids: NDArray[np.int64]
    """Axes: row, position."""
    lengths: NDArray[np.int64]
    segments: NDArray[np.int64]
    """Span of each token: 0 or 1."""
    labels: NDArray[np.int64]
    """Label of a row's two spans: 1 or 0; ``IGNORED`` if there is one span."""


@runtime_checkable
class SpanCorpus(Protocol):
    """Documents as rows."""

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Return the stream of row numbers to train on."""
        ...

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> SpanRows:
        """Return the rows of these numbers."""
        ...

    def list_rows(self) -> NDArray[np.int64]:
        """Return numbers of rows that cover the corpus once."""
        ...


class Spans:
    """Windows of the concatenated documents.

    Args:
        ids: The documents, each ending with [SEP].
        longest: Tokens in one row, [CLS] and [SEP] included.

    """

    def __init__(self, ids: NDArray[np.uint32], *, longest: int) -> None:
        self.ids, self.longest = ids, longest
        self.window = min(max(1, longest - 2), len(ids))

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Return the stream of window starts."""
        within = max(1, batch_tokens // self.longest) * self.window
        return Windows(len(self.ids), context=self.window, seed=seed, batch_tokens=within)

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> SpanRows:
        """Return the windows that start at ``numbers``."""
        ids = cut_windows(self.ids, numbers, context=self.window, before=CLS)
        ids[:, 0] = CLS
        ids = np.pad(ids, ((0, 0), (0, 1)), constant_values=SEP)
        lengths = np.full(len(ids), ids.shape[1])
        return SpanRows(ids, lengths, np.zeros_like(ids), np.full(len(ids), IGNORED))

    def list_rows(self) -> NDArray[np.int64]:
        """Return the starts of consecutive windows; the rest, less than a window, is left out."""
        return np.arange(0, len(self.ids) - self.window + 1, self.window)
