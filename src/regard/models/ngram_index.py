"""Number the token and the n-grams that end at each position.

tokens 0 … T-1       bigrams T … T+R-1       trigrams T+R … T+2R-1       and so on
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
    """Return the embedding tables of tokens, bigrams, and so on."""
    return [reading.table, *(reading.ngrams.tables if reading.ngrams is not None else ())]


def reach_of(reading: Embedding) -> int:
    """Return the length of the longest n-gram minus one."""
    return reading.ngrams.longest - 1 if reading.ngrams is not None else 0


def rows_at(
    reading: Embedding, every: Int[Tensor, "batch longer"], positions: int
) -> Int[Tensor, "batch position length"]:
    """Return the row numbers of the n-grams at the last positions; -1 for one without a vector."""
    rows = [every[:, every.shape[1] - positions :]]
    ngrams, first = reading.ngrams, len(reading.table)
    for length, hashed in enumerate(ngrams.hashes(every, positions) if ngrams is not None else ()):
        assert ngrams is not None
        known = ngrams.is_known(hashed, length) > 0
        rows.append(torch.where(known, first + hashed % ngrams.rows, -1))
        first += ngrams.rows
    return torch.stack(rows, dim=-1)


def rows_in(
    reading: Embedding, texts: Sequence[Ids]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all n-grams of texts that have a vector, as arrays of text and row numbers."""
    reach = reach_of(reading)
    joined = JoinedTexts(texts, reach)
    ids = joined.ids[None].to(reading.table.device)
    rows = rows_at(reading, ids, len(joined.ids) - reach)[0].cpu().numpy()
    found = joined.inside[:, None] & (rows >= 0)
    return np.broadcast_to(joined.owner[:, None], rows.shape)[found], rows[found]


class JoinedTexts:
    """Texts joined into one array, each preceded by ``reach`` zeros.

    Args:
        texts: Ids of each.
        reach: Length of the longest n-gram minus one.

    """

    def __init__(self, texts: Sequence[Ids], reach: int) -> None:
        nothing = np.zeros(reach, dtype=np.int64)
        parts = [part for text in texts for part in (nothing, text.astype(np.int64))]
        lengths = [len(text) for text in texts]
        self.ids = torch.from_numpy(np.concatenate([*parts, nothing[:0]]))
        owner = np.repeat(np.arange(len(texts)), [reach + length for length in lengths])
        self.owner = owner[reach:]
        """Number of the text of each position, from the first that an n-gram can end at."""
        inside = [np.arange(reach + length) >= reach for length in lengths]
        self.inside = np.concatenate([*inside, np.zeros(0, dtype=bool)])[reach:]
        """Whether each position is a token and not padding."""


def chunks(texts: Iterable[Ids]) -> Iterator[list[Ids]]:
    """Yield the texts in batches."""
    iterator = iter(texts)
    while some := list(islice(iterator, TEXTS_AT_ONCE)):
        yield some
