"""The journal: one JSON object per line for each event, appended and never rewritten.

:func:`regard.run_files.read_journal` reads it back. Lines reach the disk with the next checkpoint.
"""

import json
from pathlib import Path

from regard.files import sync


class Journal:
    """Appends to a run's journal.

    Args:
        file: The journal's path.

    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._end_last_line()

    def write(self, event: str, **facts: object) -> None:
        """Append one line."""
        with self.file.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")

    def sync(self) -> None:
        """Flush what was appended to the disk."""
        if self.file.exists():  # a trial of a search may have nothing to write
            sync(self.file)

    def _end_last_line(self) -> None:
        """End a line that a kill cut short, so that the next one is not lost with it."""
        if self.file.exists() and self.file.read_bytes()[-1:] not in (b"", b"\n"):
            with self.file.open("ab") as journal:
                journal.write(b"\n")
