"""What a worker process runs; torch is loaded there, never in the front."""

import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def run(
    connection: Connection,
    folders: Mapping[str, Path],
    opening: Mapping[str, Any],
    niceness: int,
) -> None:
    """Serve batches until the front is gone."""
    from regard.serve.worker import run_worker

    os.nice(niceness)
    run_worker(connection, folders, opening)
