"""Reproducible random choices, and the split that a combination of words belongs to.

A combination (subject, verb, object; adjective, noun) belongs to one split by a hash of its words:
what is drawn for one split never occurs in another.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import TypeVar

from regard.data.worlds.splits import Split

Combination = tuple[str, ...]

_Item = TypeVar("_Item")
_SIDES: tuple[Split, ...] = ("train", "train", "train", "train", "valid", "test")


@cache
def side_of(combination: Combination) -> Split:
    """Return the split of a combination: train with probability 2/3, each other with 1/6."""
    digest = sha256("\t".join(combination).encode()).digest()
    return _SIDES[int.from_bytes(digest[:8], "big") % len(_SIDES)]


class Chance:
    """Random choices for one split that depend on its name and the seed only.

    Only ``random.Random.random`` is used, the one method whose sequence Python guarantees.

    Args:
        split: Only its combinations are allowed.
        seed: Determines the choices.
        world: Name of the world; its choices differ from those of others.

    """

    def __init__(self, split: Split, seed: int, *, world: str = "scenes") -> None:
        self._random = random.Random(f"{world}/{split}/{seed}").random
        self.split = split
        self.combinations: list[Combination] = []

    def happens(self, share: float) -> bool:
        return self._random() < share

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self._random() * len(items))]

    def pick_weighted(self, items: Mapping[_Item, float]) -> _Item:
        left = self._random() * sum(items.values())
        for item, weight in items.items():
            left -= weight
            if left < 0:
                return item
        return item

    def allows(self, *combination: str) -> bool:
        """Return whether this split may use the combination."""
        return side_of(combination) == self.split

    def record(self, *combination: str) -> None:
        """Record a combination that the sentence contains."""
        self.combinations.append(combination)
