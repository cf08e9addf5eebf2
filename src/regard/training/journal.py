"""The journal: one JSON object per line for each event, appended and never rewritten.

:func:`regard.run_files.read_journal` reads it back.
"""

import json
from pathlib import Path


class Journal:
    """Appends to a run's journal.

    Args:
        file: The journal's path.

    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def write(self, event: str, **facts: object) -> None:
        """Append one line."""
        with self.file.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")
