"""Document vectors: every text has one, every run of tokens has one, and they point the same way.

    p(run stands in text) = σ(α · cos(text, run))                 while learning
    vector of a run       = run / |run| - what runs have in common    once learned
    vector of any text    = mean of the vectors of its runs

Thongtan and Phienthrakul 2019. A text's own vector is needed only to learn the runs' by: what is
kept is a body without blocks, whose mean over a text points where the text's own vector would, and
which any task can begin from.
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

SHARP = 6.0  # α


class DocumentVectors(nn.Module):
    """Texts and runs of tokens in one space.

    Args:
        body: A body without blocks: what enters is what is learned.

    """

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body, self.pool = body, Mean()
        self.documents: nn.Parameter | None
        self.register_parameter("documents", None)

    def open(self, documents: int) -> None:
        """Begin to learn: short vectors of any direction for texts and runs."""
        width = self.body.reading.table.shape[1]
        self.documents = nn.Parameter(self.body.reading.table.new_empty(documents, width))
        for table in (*self.tables, self.documents):
            nn.init.uniform_(table, -0.5 / width, 0.5 / width)

    @torch.no_grad()
    def close(self, shares: Float[Tensor, " row"]) -> None:
        """Keep what any text can be read by; ``shares`` says how often each run is written.

        A run that is never written has no direction, and its vector becomes 0.
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
        """Vectors of tokens, then of runs of two, and so on."""
        return tables_of(self.body.reading)

    @property
    def reach(self) -> int:
        """How many tokens before its last one the longest run has."""
        return reach_of(self.body.reading)

    def rows_of(self, windows: Int[Tensor, "window token"]) -> Int[Tensor, "window length"]:
        """Return the numbers of the runs that end each window, tokens first; -1 for no vector."""
        return rows_at(self.body.reading, windows.to(self.tables[0].device), 1)[:, 0]

    def rows_in(self, texts: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all that has a vector in texts: numbers of texts, and of rows beside them."""
        return rows_in(self.body.reading, texts)

    @torch.no_grad()
    def vectors(self, rows: Int[Tensor, " row"]) -> Float[Tensor, "row width"]:
        """Return the vectors of runs, in any order."""
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

    def likeness(
        self, documents: Int[Tensor, " pair"], rows: Int[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Return the cosine of each document and run; ``rows`` must ascend.

        Gradients name only the rows that were read.
        """
        assert self.documents is not None
        cuts = torch.tensor(self._cuts, device=rows.device)
        parts = pairwise(torch.searchsorted(rows, cuts).tolist())
        runs = torch.cat(
            [
                nn.functional.embedding(rows[begin:end] - first, table, sparse=True)
                for table, first, (begin, end) in zip(self.tables, cuts, parts, strict=False)
            ]
        )
        texts = nn.functional.embedding(documents, self.documents, sparse=True)
        return nn.functional.cosine_similarity(texts, runs)

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch width"]:
        """Return the vector of each text."""
        visible = padding(lengths, ids.shape[1])
        return self.pool(self.body(ids, visible=visible), visible=visible).flatten(1)
