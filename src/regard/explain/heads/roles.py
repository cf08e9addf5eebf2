"""What a head does, as the share of its strongest looks that fall where a role says.

    previous     on the position before          next   on the position after
    separator    on a special token              rare   on the rarest word it can see
    alignment    (into a source) on the word whose removal hurts the written word most

A head has a role if at least half of its strongest looks fall there, and twice as many as would by
chance: a look at any visible place (after Voita et al. 2019, who count strongest looks as well).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.explain.heads.masks import HeadName
from regard.explain.trace import Trace

THRESHOLD = 0.5
TIMES_CHANCE = 2.0
Hits = NDArray[np.bool_]
"""By who looks and what is looked at: where a role's looks fall."""


class Played(NamedTuple):
    """How well a head plays one role."""

    share: float
    chance: float

    @property
    def plays(self) -> bool:
        """Whether this is the head's role."""
        return self.share >= max(THRESHOLD, min(0.99, TIMES_CHANCE * self.chance))


class RoleCounts:
    """Counts strongest looks over many texts."""

    def __init__(self) -> None:
        self.hits: Counter[tuple[HeadName, str]] = Counter()
        self.looks: Counter[tuple[HeadName, str]] = Counter()
        self.chances: Counter[tuple[HeadName, str]] = Counter()

    def add(self, trace: Trace, roles: Mapping[str, Hits]) -> None:
        """Count the looks of one text; rows to which a role offers no place are left out."""
        visible = (trace.weights > 0).any(axis=(0, 1))
        strongest = trace.weights.argmax(axis=-1)
        layers, heads = strongest.shape[:2]
        rows = np.arange(visible.shape[0])
        for role, hits in roles.items():
            offered = (hits & visible).any(axis=1)
            share = (hits & visible).sum(axis=1) / np.maximum(1, visible.sum(axis=1))
            for layer in range(layers):
                for head in range(heads):
                    key = (HeadName(trace.stack, layer, head), role)
                    self.hits[key] += int(hits[rows, strongest[layer, head]][offered].sum())
                    self.looks[key] += int(offered.sum())
                    self.chances[key] += share[offered].sum()

    def played(self) -> dict[HeadName, dict[str, Played]]:
        """Return every head's shares by role."""
        found: dict[HeadName, dict[str, Played]] = {}
        for (head, role), looks in self.looks.items():
            if looks:
                key = (head, role)
                played = Played(self.hits[key] / looks, float(self.chances[key]) / looks)
                found.setdefault(head, {})[role] = played
        return found


def roles_of_itself(trace: Trace, rarity: Sequence[int]) -> dict[str, Hits]:
    """Say where looks of a text at itself fall by each role; ``rarity`` counts its tokens."""
    rows, columns = trace.weights.shape[-2:]
    offset = np.arange(columns) - np.arange(rows)[:, None]
    special = np.zeros(columns, dtype=bool)
    special[list(trace.sinks)] = True
    counts = np.asarray(rarity, dtype=np.float64)
    counts[special] = np.inf
    visible = (trace.weights > 0).any(axis=(0, 1))
    seen = np.where(visible, counts, np.inf)
    rarest = (seen == seen.min(axis=1, keepdims=True)) & np.isfinite(seen)
    return {
        "previous": offset == -1,
        "next": offset == 1,
        "separator": np.broadcast_to(special, (rows, columns)),
        "rare": rarest,
    }


def roles_across(trace: Trace, aligned: NDArray[np.float64] | None) -> dict[str, Hits]:
    """Say the same of looks into a source; ``aligned`` is a reading by words, written by source."""
    rows, columns = trace.weights.shape[-2:]
    special = np.zeros(columns, dtype=bool)
    special[list(trace.sinks)] = True
    roles = {"separator": np.broadcast_to(special, (rows, columns))}
    if aligned is not None:
        hits = np.zeros((rows, columns), dtype=bool)
        for word, best in enumerate(aligned.argmax(axis=1).tolist()):
            if aligned[word, best] > 0 and word < len(trace.target_words) - 1:  # not the ending
                hits[trace.target_words[word], trace.source_words[best]] = True
        roles["alignment"] = hits
    return roles
