"""Reproducible choices, and which side of the split a combination of words belongs to.

A combination (who does what to what; which adjective with which noun) belongs to one split for
ever, by a hash of its words: whatever is drawn for one split never occurs in another.
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
    """Find the split a combination belongs to: two thirds train, a sixth for each other."""
    digest = sha256("\t".join(combination).encode()).digest()
    return _SIDES[int.from_bytes(digest[:8], "big") % len(_SIDES)]


class Chance:
    """Choices for one split that depend on its name and the seed only.

    Everything is made of ``random.Random.random``, the one method whose sequence Python promises to
    keep.

    Args:
        split: Whose combinations may be drawn.
        seed: Another seed, other sentences.
        world: What is drawn for.

    """

    def __init__(self, split: Split, seed: int, *, world: str = "scenes") -> None:
        self._random = random.Random(f"{world}/{split}/{seed}").random
        self.split = split
        self.combinations: list[Combination] = []

    def happens(self, share: float) -> bool:
        return self._random() < share

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self._random() * len(items))]

    def weighted(self, items: Mapping[_Item, float]) -> _Item:
        left = self._random() * sum(items.values())
        for item, weight in items.items():
            left -= weight
            if left < 0:
                return item
        return item

    def allows(self, *combination: str) -> bool:
        """Whether this split may use the combination."""
        return side_of(combination) == self.split

    def use(self, *combination: str) -> None:
        """Remember a combination that the sentence contains."""
        self.combinations.append(combination)
