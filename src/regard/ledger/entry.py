"""The ledger: one entry for every part of a step, in the order in which the parts run.

An entry says what is learned there, what it multiplies and what it keeps for the way back. All
other accounts (parameters, operations, memory) are sums over entries; none looks at a model.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

FLOAT = 4
"""Bytes of one number."""


class Seq(NamedTuple):
    """Texts side by side, all of one length."""

    rows: int
    length: int

    @property
    def tokens(self) -> int:
        """Positions in all."""
        return self.rows * self.length


class Entry(NamedTuple):
    """One part of a step."""

    part: str
    """What it is called in every table: "attention", "feed-forward"."""
    parameters: int = 0
    """Numbers learned here and nowhere before."""
    macs: int = 0
    """Multiply-adds of all matrix products on the way forward; each is two FLOPs."""
    back: int | None = None
    """The same on the way back; None for twice as many."""
    saved: int = 0
    """Bytes kept for the way back."""
    passing: int = 0
    """Bytes that come and go on the way back, beside what is kept."""
    forward_passing: int = 0
    """Bytes that come and go on the way forward."""
    matrices: tuple[tuple[int, int], ...] = ()
    """Matrices between states, which Muon moves."""
    body: bool = True
    """Whether it is carried over to another task."""
    again: int = 0
    """Multiply-adds of products done once more to draw from them, without a way back."""
    held: int = 0
    """Bytes that appear on the way back and stay to its end."""
    learns: bool = True
    """Whether it has gradients; a frozen part has none."""
    gradient: int | None = None
    """Numbers of its gradient; None for one for each parameter."""

    @property
    def macs_back(self) -> int:
        """Multiply-adds on the way back."""
        return 2 * self.macs if self.back is None else self.back

    @property
    def gradient_bytes(self) -> int:
        """Bytes of what is learned of it in one step."""
        numbers = self.parameters if self.gradient is None else self.gradient
        return FLOAT * numbers * self.learns


Ledger = list[Entry]


def headed(entries: Iterable[Entry]) -> Ledger:
    """Say that these entries belong to a head: they are not carried over, nor moved by Muon."""
    return [entry._replace(body=False, matrices=()) for entry in entries]


def again(entries: Iterable[Entry]) -> Ledger:
    """Book a pass through parts that another entry of the same step has learned already.

    Its gradients are added to that one's, and are there beside them for a moment.
    """
    return [
        entry._replace(
            parameters=0, matrices=(), held=0, passing=entry.passing + entry.gradient_bytes
        )
        for entry in entries
    ]


def renamed(entries: Iterable[Entry], part: str, *, body: bool) -> Ledger:
    """Book entries of several kinds under one name."""
    return [entry._replace(part=part, body=body) for entry in entries]


def by_part(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum numbers by part, largest first; parts that come to nothing are left out."""
    sums: Counter[str] = Counter()
    for part, number in pairs:
        sums[part] += number
    return {part: number for part, number in sums.most_common() if number}
