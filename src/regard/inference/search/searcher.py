"""A searcher: a question in, documents out, best first."""

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from regard.errors import UsageError
from regard.inference.predictor import Predictor
from regard.inference.search import approximate, folder
from regard.run import Run
from regard.tasks.retrieval.bm25 import Bm25, words
from regard.tasks.retrieval.metrics import rank
from regard.tasks.retrieval.ranking import blend, words_found

WAYS = ("dense", "bm25", "hybrid")
NEAREST = 1000  # documents an approximate index is asked for


class Hit(NamedTuple):
    """One document that was found."""

    rank: int
    score: float
    id: str
    title: str
    snippet: str


class Searcher:
    """An index that is open.

    Args:
        index: The folder; every file is checked at once.

    """

    def __init__(self, index: Path) -> None:
        self.folder = index
        self.facts: dict[str, Any] = folder.read_manifest(index)

    @property
    def usual(self) -> str:
        """How it searches if nobody says: by both where it can."""
        return "hybrid" if self.facts["pieces"] else "bm25"

    @cached_property
    def model(self) -> Predictor:
        """What reads queries."""
        return Predictor(Run(self.folder / folder.RUN))

    @cached_property
    def words(self) -> Bm25[str]:
        """BM25's lists."""
        return folder.read_words(self.folder)

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        by: str = "",
        share: float | None = None,
        exact: bool = False,
    ) -> list[Hit]:
        """Find the ``k`` best documents; fewer, or none, where nothing matches."""
        by = by or self.usual
        self._check(query, by, share)
        share = self.facts.get("hybrid", 0.5) if share is None else share
        scores = self._scores(query, by, share=share, exact=exact)
        ties = load_file(self.folder / folder.PLACES)["ties"]
        best = rank(scores, ties, most=k)
        entries = folder.read_entries(self.folder, best)
        return [
            Hit(place, float(scores[number]), *entry)
            for place, (number, entry) in enumerate(zip(best, entries, strict=True), start=1)
        ]

    def has_words_of(self, query: str) -> bool:
        """Whether any document has a word of the query."""
        return any(word in self.words.places for word in words(query))

    def _scores(self, query: str, by: str, *, share: float, exact: bool) -> NDArray[np.float32]:
        if by == "dense":
            return self._dense(query, exact=exact)
        found = self.words.scores(words(query))
        if by == "bm25":
            return words_found(found)
        return blend(self._dense(query, exact=exact), found, share=share)

    def _dense(self, query: str, *, exact: bool) -> NDArray[np.float32]:
        (vector,) = self.model.encode([query])
        if self.facts["approximate"] and not exact:
            file = self.folder / folder.APPROXIMATE
            return approximate.nearest(file, vector, count=self.facts["documents"], most=NEAREST)
        scores = []
        for piece in folder.read_vectors(self.folder, self.facts["pieces"]):
            own = piece @ vector
            own[~piece.any(axis=1)] = -np.inf
            scores.append(own)
        return np.concatenate(scores)

    def _check(self, query: str, by: str, share: float | None) -> None:
        if not query.strip():
            raise UsageError("a query must not be blank.", "Write some words.")
        if by not in WAYS:
            raise UsageError(
                f"documents are found by dense, bm25 or hybrid. Got {by!r}.", "Name one of them."
            )
        if by != "bm25" and not self.facts["pieces"]:
            raise UsageError(
                f"{self.folder} was made of words alone and cannot search by {by}.",
                "Search it by bm25, or make it again with a run: regard index RUN CORPUS.",
            )
        if share is not None and (by != "hybrid" or not 0.0 <= share <= 1.0):
            raise UsageError(
                f"the share of the vectors goes from 0 to 1, in hybrid search. Got {share:g} by "
                f"{by}.",
                "Set it between 0 and 1, or leave it out.",
            )
