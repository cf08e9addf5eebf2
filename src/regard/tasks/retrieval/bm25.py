"""BM25: ranking by words, without training.

    score(q, d) = Σ over t in q of  idf(t) · tf / (tf + k1·(1 - b + b·|d| / mean |d|))
    idf(t)      = ln(1 + (N - n(t) + ½) / (n(t) + ½))

(Robertson and Zaragoza 2009, as in Lucene.) A term that occurs twice in the query counts twice. The
score of a term in a document is computed when the index is built, so that a search adds up short
lists (Lù 2024). A test compares it with the library ``bm25s``.
"""

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

K1, B = 1.5, 0.75
_WORD = re.compile(r"\w+")

Term = TypeVar("Term", bound=Hashable)


class Postings(NamedTuple):
    """For every term, the documents that contain it and its score there."""

    starts: NDArray[np.int64]
    """Term n is in ``documents[starts[n] : starts[n + 1]]``."""
    documents: NDArray[np.int32]
    impacts: NDArray[np.float32]


class Bm25(Generic[Term]):
    """An inverted index of documents.

    Args:
        places: The number of every term.
        postings: Which documents have which terms.
        count: How many documents there are.

    """

    def __init__(self, places: Mapping[Term, int], postings: Postings, count: int) -> None:
        self.places, self.postings, self.count = places, postings, count

    @classmethod
    def of(
        cls, documents: Iterable[Iterable[Term]], *, k1: float = K1, b: float = B
    ) -> "Bm25[Term]":
        """Index documents given as their terms, one after another."""
        places: dict[Term, int] = {}
        terms, owners, counts, lengths = array("i"), array("i"), array("i"), array("q")
        for number, document in enumerate(documents):
            found = Counter(document)
            lengths.append(found.total())
            for term, count in found.items():
                terms.append(places.setdefault(term, len(places)))
                owners.append(number)
                counts.append(count)
        columns = np.array([terms, owners, counts], dtype=np.int64)
        long = np.array(lengths, dtype=np.int64)
        return cls(places, _postings(columns, long, len(places), k1=k1, b=b), len(long))

    def scores(self, query: Iterable[Term]) -> NDArray[np.float32]:
        """Score every document; 0 where it has no term of the query."""
        total = np.zeros(self.count, dtype=np.float32)
        starts, documents, impacts = self.postings
        for term, times in Counter(query).items():
            place = self.places.get(term)
            if place is not None:
                own = slice(starts[place], starts[place + 1])
                total[documents[own]] += times * impacts[own]
        return total


def words(text: str) -> list[str]:
    """Split a text into the words that BM25 compares: letters and digits, in lower case."""
    return _WORD.findall(text.lower())


def _postings(
    columns: NDArray[np.int64],
    lengths: NDArray[np.int64],
    size: int,
    *,
    k1: float,
    b: float,
) -> Postings:
    terms, owners, counts = columns[:, np.argsort(columns[0], kind="stable")]
    having = np.bincount(terms, minlength=size)
    idf = np.log1p((len(lengths) - having + 0.5) / (having + 0.5))
    long = lengths / max(1e-9, lengths.mean() if len(lengths) else 1.0)
    slow = k1 * (1 - b + b * long)[owners]
    impacts = idf[terms] * counts / (counts + slow)
    starts = np.concatenate([[0], np.cumsum(having)]).astype(np.int64)
    return Postings(starts, owners.astype(np.int32), impacts.astype(np.float32))
