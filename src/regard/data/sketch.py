"""A sketch of a corpus in bounded memory: two hashes, file and line per record, 28 bytes each.

Once it is full, only records whose hash ends in a zero bit are kept, then in two, and so on. Equal
records are kept or dropped together, so every duplicate found is real, and the number found times
``scale`` estimates the total.
"""

import hashlib
from array import array
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64
from numpy import ndarray

from regard.data.record import Record
from regard.data.split import normalize_text

Positions = Int[ndarray, " found"]


class Match(NamedTuple):
    """Two matching records, by their index in the sketch."""

    later: int
    earlier: int


class Sketch:
    """Keeps hashes of the records of one split.

    Args:
        most: At most this many records are kept.

    """

    def __init__(self, most: int = 2_000_000) -> None:
        self._most = most
        self._shift = 0
        self._names: dict[str, int] = {}
        self._wholes, self._firsts = array("Q"), array("Q")
        self._files, self._lines, self._ratios = array("I"), array("I"), array("f")

    @property
    def scale(self) -> int:
        """How many records each kept one stands for."""
        return 1 << self._shift

    def add(self, record: Record) -> None:
        """Add a record."""
        first = normalize_text(record.fields[0])
        key = hash_text(first)
        if key & (self.scale - 1):
            return
        self._firsts.append(key)
        self._wholes.append(hash_text("\0".join([first, *map(normalize_text, record.fields[1:])])))
        self._files.append(self._names.setdefault(record.file, len(self._names)))
        self._lines.append(record.line)
        self._ratios.append(_log_length_ratio(record.fields))
        if len(self._firsts) > self._most:
            self._thin()

    def locate(self, at: int) -> tuple[str, int]:
        """Return file and line of a kept record."""
        return list(self._names)[self._files[at]], self._lines[at]

    def find_duplicates(self) -> list[Match]:
        """Find records that repeat an earlier one, field for field."""
        return _find_repeats(self._hashes(self._wholes))

    def find_conflicts(self) -> list[Match]:
        """Find records with the first field of an earlier one and another last field."""
        wholes = self._hashes(self._wholes)
        pairs = _find_repeats(self._hashes(self._firsts))
        return [pair for pair in pairs if wholes[pair.later] != wholes[pair.earlier]]

    def find_shared(self, other: "Sketch") -> list[Match]:
        """Find records (later) whose first field also occurs in the other split (earlier)."""
        mine, theirs = self._hashes(self._firsts), self._hashes(other._firsts)
        if not len(theirs):
            return []
        order = np.argsort(theirs, kind="stable")
        at = np.minimum(np.searchsorted(theirs, mine, sorter=order), len(theirs) - 1)
        partners = order[at]
        found = np.flatnonzero(theirs[partners] == mine)
        return [Match(int(here), int(partners[here])) for here in found]

    def find_odd_ratios(self, factor: float) -> Positions:
        """Find records whose length ratio differs from the median by more than ``factor``."""
        ratios: Float[ndarray, " record"] = np.frombuffer(self._ratios, dtype=np.float32)
        if not len(ratios):
            return np.zeros(0, dtype=np.int64)
        odd: Bool[ndarray, " record"] = np.abs(ratios - np.median(ratios)) > np.log(factor)
        return np.flatnonzero(odd)

    def _hashes(self, values: "array[int]") -> UInt64[ndarray, " record"]:
        return np.frombuffer(values, dtype=np.uint64)

    def _thin(self) -> None:
        self._shift += 1
        kept = [at for at, key in enumerate(self._firsts) if not key & (self.scale - 1)]
        for name in ("_wholes", "_firsts", "_files", "_lines", "_ratios"):
            old = getattr(self, name)
            setattr(self, name, array(old.typecode, (old[at] for at in kept)))


def hash_text(text: str) -> int:
    """Return a 64-bit hash of a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _log_length_ratio(fields: tuple[str, ...]) -> float:
    """Return log(length of the second field / length of the first), each length plus 10."""
    if len(fields) < 2:
        return 0.0
    return float(np.log((len(fields[1]) + 10) / (len(fields[0]) + 10)))


def _find_repeats(hashes: UInt64[ndarray, " record"]) -> list[Match]:
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = [Match(int(order[at + 1]), int(order[at])) for at in same]
    return sorted(pairs)
