"""An engine: another library's implementation of a network, with a search of its own.

It searches as :mod:`.beam` and :mod:`.search` do, and returns the same answers. Where a rule could
have changed an answer (an n-gram that repeats, an answer that is too short), it leaves the row to
them.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from regard.decoding.steps import Answer, Limits


@runtime_checkable
class Engine(Protocol):
    """A network in another library."""

    name: str
    """Library and precision, for those who read a score."""

    def search(
        self,
        rows: Sequence[list[int]],
        limits: Limits,
        *,
        width: int,
        length_penalty: float,
        best: int = 1,
    ) -> list[list[Answer] | None]:
        """Return the ``best`` answers of every row, best first; None for a row left to others.

        ``width`` 1 is greedy search, without a length penalty.
        """
