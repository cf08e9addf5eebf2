"""A journal followed while a training writes it: only what is new is read.

the events so far, each step once, and a generation, which changes when earlier events no longer
hold: the run was resumed, or begun anew
"""

import os
from pathlib import Path
from typing import Any

from regard.run_files import extend_journal


class Follower:
    """Reads a journal as it grows.

    Args:
        file: The journal; it may not be there yet.

    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.events: list[dict[str, Any]] = []
        self.generation = "0"
        self._inode = self._offset = 0

    def update(self) -> None:
        """Read the lines that were added; a line that is still being written waits."""
        try:
            handle = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self._offset:
                self.events, self._inode, self._offset = [], found.st_ino, 0
            file.seek(self._offset)
            raw = file.read()
        end = raw.rfind(b"\n") + 1
        self._offset += end
        if end:
            lines = raw[:end].decode("utf-8", "replace").split("\n")
            self.events = extend_journal(self.events, lines)
        resumed = sum(event["event"] == "resumed" for event in self.events)
        self.generation = f"{self._inode}.{resumed}"

    def last(self, event: str) -> dict[str, Any]:
        """Return the last event of a kind; an empty one if there is none."""
        return next((one for one in reversed(self.events) if one["event"] == event), {})
