"""What a head does: the share of its strongest attention weights that fall where a role says.

    previous     on the position before          next   on the position after
    separator    on a special token              rare   on the rarest visible token
    alignment    (cross-attention) on the word whose removal lowers the written word's log p most

A head has a role if at least half of its rows have their strongest weight there, and twice as many
as by chance: uniform over the visible positions (after Voita et al. 2019, who count strongest
weights as well).
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
"""By row and column of a map: where a role expects the strongest weight."""


class RoleShare(NamedTuple):
    """How often a head does what a role says."""

    share: float
    chance: float

    @property
    def has_role(self) -> bool:
        """Whether this is a role of the head."""
        return self.share >= max(THRESHOLD, min(0.99, TIMES_CHANCE * self.chance))


class RoleCounts:
    """Counts strongest weights over many texts."""

    def __init__(self) -> None:
        self.hits: Counter[tuple[HeadName, str]] = Counter()
        self.rows: Counter[tuple[HeadName, str]] = Counter()
        self.chances: Counter[tuple[HeadName, str]] = Counter()

    def add(self, trace: Trace, roles: Mapping[str, Hits]) -> None:
        """Count the rows of one text; those in which a role has no position are left out."""
        visible = (trace.weights > 0).any(axis=(0, 1))
        strongest = trace.weights.argmax(axis=-1)
        layers, heads = strongest.shape[:2]
        rows = np.arange(visible.shape[0])
        for role, hits in roles.items():
            possible = (hits & visible).any(axis=1)
            share = (hits & visible).sum(axis=1) / np.maximum(1, visible.sum(axis=1))
            for layer in range(layers):
                for head in range(heads):
                    key = (HeadName(trace.stack, layer, head), role)
                    self.hits[key] += int(hits[rows, strongest[layer, head]][possible].sum())
                    self.rows[key] += int(possible.sum())
                    self.chances[key] += share[possible].sum()

    def shares(self) -> dict[HeadName, dict[str, RoleShare]]:
        """Return every head's shares by role."""
        found: dict[HeadName, dict[str, RoleShare]] = {}
        for (head, role), rows in self.rows.items():
            if rows:
                key = (head, role)
                share = RoleShare(self.hits[key] / rows, float(self.chances[key]) / rows)
                found.setdefault(head, {})[role] = share
        return found


def find_self_roles(trace: Trace, frequency: Sequence[int]) -> dict[str, Hits]:
    """Say where each role expects self-attention; ``frequency`` is how frequent each token is."""
    rows, columns = trace.weights.shape[-2:]
    offset = np.arange(columns) - np.arange(rows)[:, None]
    special = np.zeros(columns, dtype=bool)
    special[list(trace.sinks)] = True
    counts = np.asarray(frequency, dtype=np.float64)
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


def find_cross_roles(trace: Trace, aligned: NDArray[np.float64] | None) -> dict[str, Hits]:
    """Say where each role expects cross-attention; ``aligned`` scores written by source words."""
    rows, columns = trace.weights.shape[-2:]
    special = np.zeros(columns, dtype=bool)
    special[list(trace.sinks)] = True
    roles = {"separator": np.broadcast_to(special, (rows, columns))}
    if aligned is not None:
        hits = np.zeros((rows, columns), dtype=bool)
        for word, best in enumerate(aligned.argmax(axis=1).tolist()):
            if aligned[word, best] > 0 and word < len(trace.target_words) - 1:  # not the end
                hits[trace.target_words[word], trace.source_words[best]] = True
        roles["alignment"] = hits
    return roles
