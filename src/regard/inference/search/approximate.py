"""Nearest vectors, approximately: for corpora too large to compare every document (HNSW).

The library comes with the extra ``search`` and is imported only here, only when it is needed.
"""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError


def check_installed() -> None:
    """Refuse to go on without the library."""
    if find_spec("usearch") is None:
        raise UsageError(
            "an approximate index needs the package usearch, which is not installed.",
            'Install it: pip install "regard[search]", or leave --approximate out.',
        )


def write(file: Path, pieces: Iterable[NDArray[np.float32]], *, width: int) -> None:
    """Build the graph and write it; documents without a vector stay out of it."""
    index = _index(width)
    begin = 0
    for vectors in pieces:
        known = vectors.any(axis=1)
        numbers = begin + np.flatnonzero(known)
        index.add(numbers.astype(np.uint64), vectors[known], threads=1)
        begin += len(vectors)
    index.save(str(file))


def nearest(
    file: Path, vector: NDArray[np.float32], *, count: int, most: int
) -> NDArray[np.float32]:
    """Score the ``most`` nearest of ``count`` documents by cosine; -∞ for all others."""
    check_installed()
    index = _index(len(vector))
    index.load(str(file))
    found = index.search(vector, min(most, len(index)), threads=1)
    scores = np.full(count, -np.inf, dtype=np.float32)
    scores[np.asarray(found.keys, dtype=np.int64)] = 1.0 - np.asarray(found.distances)
    return scores


def _index(width: int) -> Any:  # noqa: ANN401 - a class of a package that may be missing
    from usearch.index import Index

    return Index(ndim=width, metric="ip", dtype="f32")
