"""An n-gram model: what usually follows the last few tokens; the baseline of language models.

    p(w | c) = max(n(c w) - D, 0) / n(c ·) + γ(c) · p(w | c without its first token)
    D = D₁, D₂ or D₃ by n(c w) = 1, 2 or more;  D_k = k - (k+1) · n₁/(n₁+2n₂) · n_{k+1}/n_k

Interpolated, modified Kneser-Ney (Chen and Goodman 1999, eq. 26): below the highest order, n counts
how many different tokens were seen before a run instead of how often the run was seen. The
lowest order is mixed with all tokens alike. γ is whatever is left to one, so that runs may be
left out to bound the size and probabilities still sum to one.

A run of k tokens is one number: its context's place among the runs of k - 1, times the number of
tokens, plus its last token. A table holds these numbers sorted, each with its share.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TOKENS = 4_000_000  # of the text that are counted
MOST_RUNS = 500_000  # kept of one length, the commonest first
LEAST = 0.1  # of a count, always left to shorter runs

Ids = NDArray[np.int64]
Tables = dict[str, NDArray[np.int64] | NDArray[np.float32]]


def learn_ngrams(ids: Iterable[int], *, order: int, tokens: int, boundary: int) -> Tables:
    """Count n-grams of up to ``order`` tokens in a text; ``boundary`` precedes it."""
    text = _after(boundary, np.fromiter(islice(ids, MOST_TOKENS), dtype=np.int64), order)
    place = np.zeros_like(text)  # of the run that ends at each token; the empty run is the first
    runs, places, firsts = [], [], []
    for length in range(1, order + 1):
        keys = place[length - 2 : -1] * tokens + text[length - 1 :] if length > 1 else text
        found, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        place = np.concatenate([np.zeros(length - 1, dtype=np.int64), inverse])
        runs.append(found)
        places.append(place)
        firsts.append(first + length - 1)
    tables: Tables = {}
    kept = np.zeros(1, dtype=np.int64)
    for length in range(1, order + 1):
        ends = firsts[length] if length < order else np.arange(length - 1, len(text))
        counts = np.bincount(places[length - 1][ends], minlength=len(runs[length - 1]))
        keys, shares, kept = _select(runs[length - 1], counts, kept, tokens)
        tables[f"keys-{length}"], tables[f"shares-{length}"] = keys, shares
    return tables


class NgramModel:
    """What usually follows the last few tokens.

    Args:
        tables: What :func:`learn_ngrams` found.
        tokens: Size of the vocabulary.
        boundary: The id that precedes a text.

    """

    def __init__(self, tables: Mapping[str, NDArray[Any]], *, tokens: int, boundary: int) -> None:
        self.tokens, self.boundary, self.order = tokens, boundary, len(tables) // 2
        self._keys = [tables[f"keys-{n + 1}"] for n in range(self.order)]
        self._shares = [tables[f"shares-{n + 1}"].astype(np.float64) for n in range(self.order)]
        self._left = []
        contexts = 1
        for keys, shares in zip(self._keys, self._shares, strict=True):
            given = np.bincount(keys // tokens, weights=shares, minlength=contexts)
            self._left.append(np.maximum(1.0 - given, 0.0))
            contexts = len(keys)

    def log_p(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """Log-probability of every token of a text, each after those before it."""
        text = _after(self.boundary, ids.astype(np.int64), self.order)
        p = np.full(len(text), 1.0 / self.tokens)
        context = np.zeros_like(text)  # the place of the run before each token; -1 for an unknown
        for keys, shares, left in zip(self._keys, self._shares, self._left, strict=True):
            wanted = context * self.tokens + text
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            known = context >= 0
            hit = known & (keys[place] == wanted)
            p = np.where(known, left[context] * p + np.where(hit, shares[place], 0.0), p)
            context = np.concatenate([[-1], np.where(hit, place, -1)[:-1]])
        return np.log(p[self.order - 1 :])


def _after(boundary: int, ids: Ids, order: int) -> Ids:
    """Put so many boundaries before a text that its first token has a whole run before it."""
    return np.concatenate([np.full(order - 1, boundary, dtype=np.int64), ids])


def _select(keys: Ids, counts: Ids, kept: Ids, tokens: int) -> tuple[Ids, NDArray[np.float32], Ids]:
    """Give the runs of one length that are kept, their shares, and each old one's new place.

    ``kept`` says the same of the contexts; -1 is one that was left out.
    """
    contexts, last = keys // tokens, keys % tokens
    totals = np.bincount(contexts, weights=counts)
    shares = (counts - _discounts(counts)[np.minimum(counts, 3)]) / np.maximum(totals[contexts], 1)
    stay = kept[contexts] >= 0
    if stay.sum() > MOST_RUNS:
        commonest = np.lexsort((np.arange(len(keys)), -counts, ~stay))[:MOST_RUNS]
        stay = np.zeros_like(stay)
        stay[commonest] = True
    places = np.where(stay, np.cumsum(stay) - 1, -1)
    new = kept[contexts[stay]] * tokens + last[stay]
    return new, shares[stay].astype(np.float32), places


def _discounts(counts: Ids) -> NDArray[np.float64]:
    """Say what is taken off a count of 0, 1, 2, and 3 or more."""
    seen = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    often = seen[1] / max(1.0, seen[1] + 2 * seen[2])
    found = [k - (k + 1) * often * seen[k + 1] / max(1.0, seen[k]) for k in (1, 2, 3)]
    return np.array([0.0, *(np.clip(d, LEAST, k - LEAST) for k, d in enumerate(found, start=1))])
