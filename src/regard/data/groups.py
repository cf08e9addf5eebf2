"""The groups of one split: how many examples each has, and where the first stands.

Memory is bounded as a sketch's is: when it is full, groups are kept whose hash ends in a zero bit,
then in two, and so on. What is found among those kept in two splits is really in both.
"""

from collections.abc import Iterator
from typing import NamedTuple

from regard.data.record import Record
from regard.data.sketch import hash_text


class Group(NamedTuple):
    """How many examples a group has, and where the first stands."""

    examples: int
    file: str
    line: int


class Groups:
    """Remembers the groups of one split.

    Args:
        most: The most groups remembered at a time.

    """

    def __init__(self, most: int = 200_000) -> None:
        self._most = most
        self._groups: dict[str, Group] = {}
        self.scale = 1
        """How many groups each remembered one stands for."""

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

    def shared(self, other: "Groups") -> Iterator[tuple[str, Group, Group]]:
        """Find the groups that another split has as well: name, here, there."""
        for name, group in self._groups.items():
            if name in other._groups:
                yield name, group, other._groups[name]

    def _is_kept(self, name: str) -> bool:
        return not hash_text(name) & (self.scale - 1)
