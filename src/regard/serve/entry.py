"""What a worker process runs; torch is loaded there, never in the front."""

from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def run(connection: Connection, folders: Mapping[str, Path], decoding: Mapping[str, Any]) -> None:
    """Serve batches until the front is gone."""
    from regard.serve.worker import run_worker

    run_worker(connection, folders, decoding)
