"""Document vectors (DV-ngrams-cosine, Thongtan and Phienthrakul 2019).

    p(n-gram in text)    = σ(α · cos(text, n-gram))               in training
    vector of an n-gram  = n-gram / |n-gram| - mean of all        after training
    vector of any text   = mean of the vectors of its n-grams

The vectors of the training texts are discarded after training. What remains is a body without
blocks, whose mean over a text approximates the text's vector, and which can be transferred to any
task.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.pooling import Mean
from regard.layers.visibility import padding
from regard.models.body import Body
from regard.models.ngram_index import Ids, reach_of, rows_at, rows_in, tables_of

SCALE = 6.0  # α


class DocumentVectors(nn.Module):
    """Texts and n-grams in one vector space.

    Args:
        body: A body without blocks.

    """

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body, self.pool = body, Mean()
        self.documents: nn.Parameter | None
        self.register_parameter("documents", None)

    def initialise(self, documents: int) -> None:
        """Initialise the vectors of texts and n-grams to small random values."""
        width = self.body.reading.table.shape[1]
        self.documents = nn.Parameter(self.body.reading.table.new_empty(documents, width))
        for table in (*self.tables, self.documents):
            nn.init.uniform_(table, -0.5 / width, 0.5 / width)

    @torch.no_grad()
    def finalise(self, shares: Float[Tensor, " row"]) -> None:
        """Normalise and centre the n-gram vectors, weighted by frequency, and discard the texts'.

        The vector of an n-gram with frequency 0 becomes 0.
        """
        cuts, shares = self._cuts, shares.to(self.tables[0])
        for table in self.tables:
            table.copy_(nn.functional.normalize(table, dim=1))
        common = sum(
            shares[begin:end] @ table
            for table, (begin, end) in zip(self.tables, pairwise(cuts), strict=True)
        )
        for table, (begin, end) in zip(self.tables, pairwise(cuts), strict=True):
            table.sub_(common).mul_((shares[begin:end] > 0)[:, None])
        self.documents = None

    @property
    def tables(self) -> list[nn.Parameter]:
        """The vectors of tokens, then of bigrams, and so on."""
        return tables_of(self.body.reading)

    @property
    def reach(self) -> int:
        """Length of the longest n-gram minus one."""
        return reach_of(self.body.reading)

    def rows_of(self, windows: Int[Tensor, "window token"]) -> Int[Tensor, "window length"]:
        """Return the numbers of the n-grams that end each window, tokens first; -1 for none."""
        return rows_at(self.body.reading, windows.to(self.tables[0].device), 1)[:, 0]

    def rows_in(self, texts: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all n-grams of texts that have a vector, as pairs of text and row number."""
        return rows_in(self.body.reading, texts)

    @torch.no_grad()
    def vectors(self, rows: Int[Tensor, " row"]) -> Float[Tensor, "row width"]:
        """Return the vectors of n-grams, in any order."""
        rows = rows.to(self.tables[0].device)
        found = self.tables[0].new_empty(len(rows), self.tables[0].shape[1])
        for table, (begin, end) in zip(self.tables, pairwise(self._cuts), strict=True):
            here = (rows >= begin) & (rows < end)
            found[here] = table[rows[here] - begin]
        return found

    @property
    def _cuts(self) -> list[int]:
        cuts = [0]
        for table in self.tables:
            cuts.append(cuts[-1] + len(table))
        return cuts

    def cosine(
        self, documents: Int[Tensor, " pair"], rows: Int[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Return the cosine of each document and n-gram; ``rows`` must ascend. Sparse gradients."""
        assert self.documents is not None
        cuts = torch.tensor(self._cuts, device=rows.device)
        parts = pairwise(torch.searchsorted(rows, cuts).tolist())
        ngrams = torch.cat(
            [
                nn.functional.embedding(rows[begin:end] - first, table, sparse=True)
                for table, first, (begin, end) in zip(self.tables, cuts, parts, strict=False)
            ]
        )
        texts = nn.functional.embedding(documents, self.documents, sparse=True)
        return nn.functional.cosine_similarity(texts, ngrams)

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch width"]:
        """Return the vector of each text."""
        visible = padding(lengths, ids.shape[1])
        return self.pool(self.body(ids, visible=visible), visible=visible).flatten(1)
