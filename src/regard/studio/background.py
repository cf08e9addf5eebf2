"""What needs torch and no engine, in a process of its own: comparisons, descriptions of runs.

    found = await background.run("compare_runs", folders)       a function of studio.analysis

The studio's own process never loads torch, so that it starts at once.
"""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from typing import Any

from regard.serve.refusal import Refusal
from regard.studio.entry import call, prepare


class Background:
    """One process that computes one thing at a time; it is started with the first."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    async def run(self, name: str, *given: Any) -> Any:  # noqa: ANN401 - as the function has it
        """Call a function of the analysis or the teaching views; raise a Refusal if it refuses."""
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            self._pool = ProcessPoolExecutor(1, context, prepare)
        try:
            found, refused = await asyncio.wrap_future(self._pool.submit(call, name, given))
        except BrokenProcessPool:
            self._pool = None
            message = "the process that computes this has ended. Try again."
            raise Refusal(503, "failed", message, retry_after=1) from None
        if refused:
            raise Refusal(422, "invalid", refused)
        return found

    @staticmethod
    def warm() -> None:
        """Load torch in the process that all others are forked from, before anything is asked."""
        forkserver.ensure_running()

    def stop(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
