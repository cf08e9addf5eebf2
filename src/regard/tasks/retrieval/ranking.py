"""Rankings by vectors, by words, and by both.

    hybrid = share · z(cosine) + (1 - share) · z(BM25)        z(s) = (s - least) / (most - least)

Each score is brought to reach from 0 to 1 over all documents, query by query, before they are
added. What has no vector (an empty document) is -∞ to the vectors; what shares no word with the
query is 0 to BM25, and not found by it.
"""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


def words_found(scores: Scores) -> Scores:
    """Let BM25 find only documents that share a word with the query."""
    return np.where(scores > 0, scores, np.float32(-np.inf)).astype(np.float32)


def blend(dense: Scores, words: Scores, *, share: float) -> Scores:
    """Add both scores; what neither finds stays not found."""
    unknown = np.isneginf(dense) & (words <= 0)
    both = share * spread(dense) + (1 - share) * spread(words)
    return np.where(unknown, np.float32(-np.inf), both).astype(np.float32)


def spread(scores: Scores) -> Scores:
    """Bring scores to reach from 0 to 1; those of -∞ are 0."""
    known = np.isfinite(scores)
    if not known.any():
        return np.zeros_like(scores)
    least, most = float(scores[known].min()), float(scores[known].max())
    wide = max(most - least, 1e-9)
    return np.where(known, (scores - least) / wide, 0.0).astype(np.float32)
