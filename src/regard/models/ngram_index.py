"""Numbers of what enters at each position: its token, and the runs of tokens that end there.

tokens 0 … T-1       runs of two T … T+R-1       runs of three T+R … T+2R-1       and so on
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.embedding import Embedding

TEXTS_AT_ONCE = 256

Ids = NDArray[np.uint32]


def tables_of(reading: Embedding) -> list[nn.Parameter]:
    """Return the tables whose rows are numbered, one after another."""
    return [reading.table, *(reading.ngrams.tables if reading.ngrams is not None else ())]


def reach_of(reading: Embedding) -> int:
    """Say how many tokens before its last one the longest run has."""
    return reading.ngrams.longest - 1 if reading.ngrams is not None else 0


def rows_at(
    reading: Embedding, every: Int[Tensor, "batch longer"], positions: int
) -> Int[Tensor, "batch position length"]:
    """Give numbers to what enters at the last positions; -1 for a run that has no vector."""
    rows = [every[:, every.shape[1] - positions :]]
    ngrams, first = reading.ngrams, len(reading.table)
    for length, run in enumerate(ngrams.runs(every, positions) if ngrams is not None else ()):
        assert ngrams is not None
        known = ngrams.is_known(run, length) > 0
        rows.append(torch.where(known, first + run % ngrams.rows, -1))
        first += ngrams.rows
    return torch.stack(rows, dim=-1)


def rows_in(
    reading: Embedding, texts: Sequence[Ids]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all that has a vector in texts: numbers of texts, and of rows beside them."""
    reach = reach_of(reading)
    joined = Joined(texts, reach)
    ids = joined.ids[None].to(reading.table.device)
    rows = rows_at(reading, ids, len(joined.ids) - reach)[0].cpu().numpy()
    there = joined.inside[:, None] & (rows >= 0)
    return np.broadcast_to(joined.owner[:, None], rows.shape)[there], rows[there]


class Joined:
    """Texts one after another, nothing (0) before each as far as a run reaches.

    Args:
        texts: Ids of each.
        reach: How far.

    """

    def __init__(self, texts: Sequence[Ids], reach: int) -> None:
        nothing = np.zeros(reach, dtype=np.int64)
        parts = [part for text in texts for part in (nothing, text.astype(np.int64))]
        lengths = [len(text) for text in texts]
        self.ids = torch.from_numpy(np.concatenate([*parts, nothing[:0]]))
        owner = np.repeat(np.arange(len(texts)), [reach + length for length in lengths])
        self.owner = owner[reach:]
        """Which text each position belongs to, from the first that a run can end at."""
        inside = [np.arange(reach + length) >= reach for length in lengths]
        self.inside = np.concatenate([*inside, np.zeros(0, dtype=bool)])[reach:]
        """Whether it is one of the text's own."""


def chunks(texts: Iterable[Ids]) -> Iterator[list[Ids]]:
    """Take some texts at a time."""
    iterator = iter(texts)
    while some := list(islice(iterator, TEXTS_AT_ONCE)):
        yield some
