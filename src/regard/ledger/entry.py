"""The ledger: one entry for every part of a step, in the order of execution.

An entry has the part's parameters, its multiply-adds and what it saves for the backward pass. All
accounts (parameters, operations, memory) are sums over entries; none needs a model.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

FLOAT = 4
"""Bytes of a float32."""


class Seq(NamedTuple):
    """A batch of texts of one length."""

    rows: int
    length: int

    @property
    def tokens(self) -> int:
        """Positions in all rows."""
        return self.rows * self.length


class Entry(NamedTuple):
    """One part of a step."""

    part: str
    """Its name in every table: "attention", "feed-forward"."""
    parameters: int = 0
    """Parameters that no earlier entry has counted."""
    macs: int = 0
    """Multiply-adds of matrix products in the forward pass that have a backward pass."""
    backward: int | None = None
    """Multiply-adds of the backward pass; None for twice those of the forward pass."""
    saved: int = 0
    """Bytes saved for the backward pass."""
    workspace: int = 0
    """Temporary bytes of the backward pass, in addition to what is saved."""
    forward_workspace: int = 0
    """Temporary bytes of the forward pass."""
    matrices: tuple[tuple[int, int], ...] = ()
    """Hidden matrices, which Muon updates."""
    body: bool = True
    """Whether it belongs to the body, which is transferred to other tasks."""
    forward_only_macs: int = 0
    """Multiply-adds without a backward pass, as of sampling from a generator."""
    held_gradient: int = 0
    """Bytes that the backward pass allocates and keeps to its end."""
    trainable: bool = True
    """Whether it has gradients; a frozen part has none."""
    gradient_size: int | None = None
    """Numbers in its gradient; None for one per parameter."""

    @property
    def forward_macs(self) -> int:
        """Multiply-adds of the forward pass."""
        return self.macs + self.forward_only_macs

    @property
    def backward_macs(self) -> int:
        """Multiply-adds of the backward pass."""
        return 2 * self.macs if self.backward is None else self.backward

    @property
    def gradient_bytes(self) -> int:
        """Bytes of its gradient."""
        numbers = self.parameters if self.gradient_size is None else self.gradient_size
        return FLOAT * numbers * self.trainable


Ledger = list[Entry]


def mark_as_head(entries: Iterable[Entry]) -> Ledger:
    """Mark entries as an output head's: not carried over, and not updated by Muon."""
    return [entry._replace(body=False, matrices=()) for entry in entries]


def repeat_pass(entries: Iterable[Entry]) -> Ledger:
    """Count another pass through parts whose parameters another entry counts.

    Its gradients exist for a moment in addition to the accumulated ones.
    """
    return [
        entry._replace(
            parameters=0,
            matrices=(),
            held_gradient=0,
            workspace=entry.workspace + entry.gradient_bytes,
        )
        for entry in entries
    ]


def rename_part(entries: Iterable[Entry], part: str, *, body: bool) -> Ledger:
    """Count entries of several parts under one name."""
    return [entry._replace(part=part, body=body) for entry in entries]


def sum_by_part(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum numbers by part, largest first, without zeros."""
    sums: Counter[str] = Counter()
    for part, number in pairs:
        sums[part] += number
    return {part: number for part, number in sums.most_common() if number}
