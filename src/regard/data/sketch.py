"""A bounded memory of a corpus: two hashes and a place per record, 28 bytes each.

When it is full, records are kept whose hash ends in a zero bit, then in two, and so on. Equal
records are kept or forgotten together, so what is found among those kept is really so, and its
number times ``scale`` estimates the whole.
"""

import hashlib
from array import array
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64
from numpy import ndarray

from regard.data.record import Record
from regard.data.split import essence

Positions = Int[ndarray, " found"]


class Pair(NamedTuple):
    """Two records that have something in common: where the later stands, and the earlier."""

    later: int
    earlier: int


class Sketch:
    """Remembers records of one split by hash.

    Args:
        most: The most records remembered at a time.

    """

    def __init__(self, most: int = 2_000_000) -> None:
        self._most = most
        self._shift = 0
        self._names: dict[str, int] = {}
        self._wholes, self._firsts = array("Q"), array("Q")
        self._files, self._lines, self._ratios = array("I"), array("I"), array("f")

    @property
    def scale(self) -> int:
        """How many records each remembered one stands for."""
        return 1 << self._shift

    def add(self, record: Record) -> None:
        """Remember a record."""
        first = essence(record.fields[0])
        key = hash_text(first)
        if key & (self.scale - 1):
            return
        self._firsts.append(key)
        self._wholes.append(hash_text("\0".join([first, *map(essence, record.fields[1:])])))
        self._files.append(self._names.setdefault(record.file, len(self._names)))
        self._lines.append(record.line)
        self._ratios.append(_ratio(record.fields))
        if len(self._firsts) > self._most:
            self._forget()

    def place(self, at: int) -> tuple[str, int]:
        """File and line of a remembered record."""
        return list(self._names)[self._files[at]], self._lines[at]

    def duplicates(self) -> list[Pair]:
        """Find records that repeat an earlier one, field for field."""
        return _repeats(self._hashes(self._wholes))

    def conflicts(self) -> list[Pair]:
        """Find records whose first field repeats an earlier one's while the rest does not."""
        wholes = self._hashes(self._wholes)
        pairs = _repeats(self._hashes(self._firsts))
        return [pair for pair in pairs if wholes[pair.later] != wholes[pair.earlier]]

    def shared(self, other: "Sketch") -> list[Pair]:
        """Find records here (later) whose first field one of the other split (earlier) has."""
        mine, theirs = self._hashes(self._firsts), self._hashes(other._firsts)
        if not len(theirs):
            return []
        order = np.argsort(theirs, kind="stable")
        at = np.minimum(np.searchsorted(theirs, mine, sorter=order), len(theirs) - 1)
        partners = order[at]
        found = np.flatnonzero(theirs[partners] == mine)
        return [Pair(int(here), int(partners[here])) for here in found]

    def odd_ratios(self, factor: float) -> Positions:
        """Find records whose second field is ``factor`` times longer or shorter than usual."""
        ratios: Float[ndarray, " record"] = np.frombuffer(self._ratios, dtype=np.float32)
        if not len(ratios):
            return np.zeros(0, dtype=np.int64)
        odd: Bool[ndarray, " record"] = np.abs(ratios - np.median(ratios)) > np.log(factor)
        return np.flatnonzero(odd)

    def _hashes(self, values: "array[int]") -> UInt64[ndarray, " record"]:
        return np.frombuffer(values, dtype=np.uint64)

    def _forget(self) -> None:
        self._shift += 1
        kept = [at for at, key in enumerate(self._firsts) if not key & (self.scale - 1)]
        for name in ("_wholes", "_firsts", "_files", "_lines", "_ratios"):
            old = getattr(self, name)
            setattr(self, name, array(old.typecode, (old[at] for at in kept)))


def hash_text(text: str) -> int:
    """Return 64 bits that follow from a text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _ratio(fields: tuple[str, ...]) -> float:
    """log(length of the second field / length of the first), each a little longer than it is."""
    if len(fields) < 2:
        return 0.0
    return float(np.log((len(fields[1]) + 10) / (len(fields[0]) + 10)))


def _repeats(hashes: UInt64[ndarray, " record"]) -> list[Pair]:
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = [Pair(int(order[at + 1]), int(order[at])) for at in same]
    return sorted(pairs)
