"""The groups of one split: the number of examples of each, and the first one.

Memory is bounded as in a sketch: once it is full, only groups whose hash ends in a zero bit are
kept, then in two, and so on. A group that is kept in two splits is really in both.
"""

from collections.abc import Iterator
from typing import NamedTuple

from regard.data.record import Record
from regard.data.sketch import hash_text


class Group(NamedTuple):
    """Number of examples of a group, file and line of the first."""

    examples: int
    file: str
    line: int


class Groups:
    """Counts the groups of one split.

    Args:
        most: At most this many groups are kept.

    """

    def __init__(self, most: int = 200_000) -> None:
        self._most = most
        self._groups: dict[str, Group] = {}
        self.scale = 1
        """How many groups each kept one stands for."""

    def add(self, record: Record) -> None:
        """Count the group of a record, if it has one."""
        name = record.group
        if known := self._groups.get(name):
            self._groups[name] = known._replace(examples=known.examples + 1)
        elif name and self._is_kept(name):
            self._groups[name] = Group(1, record.file, record.line)
            if len(self._groups) > self._most:
                self.scale *= 2
                self._groups = {n: g for n, g in self._groups.items() if self._is_kept(n)}

    def find_shared(self, other: "Groups") -> Iterator[tuple[str, Group, Group]]:
        """Find the groups that another split has too: name, counts here, counts there."""
        for name, group in self._groups.items():
            if name in other._groups:
                yield name, group, other._groups[name]

    def _is_kept(self, name: str) -> bool:
        return not hash_text(name) & (self.scale - 1)
