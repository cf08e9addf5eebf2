"""Metrics of rankings, as ``trec_eval`` computes them.

    gain(d)      its grade, 0 if not judged
    DCG@k        Σ over ranks r ≤ k of gain / log₂(r + 1)
    nDCG@k       DCG@k over that of the best ranking of all judged documents
    MRR@10       1 / rank of the first relevant document, 0 beyond rank 10
    Recall@k     share of the relevant documents among the first k
    MAP          mean over relevant documents of the precision at their rank, 0 where not found

A document is relevant if its grade is over 0. Of equal scores, the document with the later name
ranks first, as in ``trec_eval``. A ranking ends after 1,000 documents.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

DEPTH = 1000  # documents of a ranking that count
CUT = 10
RECALLS = (10, 100)
NAMES = (f"ndcg@{CUT}", f"mrr@{CUT}", "recall@10", "recall@100", "map")


def ranking_scores(ranked: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Score one ranking by the judgments of its query, which must have a relevant document."""
    relevant = sum(grade > 0 for grade in grades.values())
    gains = np.array([max(0, grades.get(name, 0)) for name in ranked[:DEPTH]], dtype=np.float64)
    ideal = np.array(sorted((max(0, g) for g in grades.values()), reverse=True), dtype=np.float64)
    right = np.flatnonzero(gains > 0)
    precisions = np.arange(1, len(right) + 1) / (right + 1)
    first = int(right[0]) + 1 if len(right) else DEPTH + 1
    return {
        f"ndcg@{CUT}": _discount(gains[:CUT]) / _discount(ideal[:CUT]),
        f"mrr@{CUT}": 1 / first if first <= CUT else 0.0,
        **{f"recall@{k}": float((right < k).sum()) / relevant for k in RECALLS},
        "map": float(precisions.sum()) / relevant,
    }


def mean_scores(every: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Give every query the same weight."""
    return {name: float(np.mean([scores[name] for scores in every])) for name in NAMES}


def rank(
    scores: NDArray[np.float32], ties: NDArray[np.int64], *, most: int = DEPTH
) -> NDArray[np.int64]:
    """Order documents by score; ``ties`` has the place of each among equals, least first.

    A document whose score is -∞ is not found at all.
    """
    found = np.flatnonzero(scores > -np.inf)
    if len(found) > most:
        least = np.partition(scores[found], len(found) - most)[len(found) - most]
        found = found[scores[found] >= least]
    order = np.lexsort((ties[found], -scores[found]))
    return found[order][:most]


def name_order(names: Sequence[str]) -> NDArray[np.int64]:
    """Rank the names of equal scores: the last in order comes first."""
    places = np.empty(len(names), dtype=np.int64)
    order = sorted(range(len(names)), key=lambda n: names[n].encode(), reverse=True)
    places[order] = np.arange(len(names))
    return places


def _discount(gains: NDArray[np.float64]) -> float:
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum())
