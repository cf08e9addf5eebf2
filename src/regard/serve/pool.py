"""The worker processes as the front sees them: started, given one batch at a time, replaced.

Workers are forked from a server process that has imported torch once, so that starting one is fast
and the imported code is in memory once.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from regard.errors import RunError, UsageError
from regard.serve.protocol import Batch, Cancel, Done, Part, Ready, Threads
from regard.serve.settings import EngineSettings

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["regard.serve.worker"])


class Worker:
    """One process.

    Args:
        folders: By name, what it opens.
        settings: How it opens runs, and how nice it is to other processes.
        when_gone: Called when the process has ended by itself.

    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        settings: EngineSettings,
        when_gone: "Callable[[Worker], None]",
    ) -> None:
        self.folders, self.settings, self.when_gone = folders, settings, when_gone
        self.ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[Done] | None = None
        self._take_part: Callable[[Part], None] = lambda _part: None
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    @property
    def idle(self) -> bool:
        """Whether it can take a batch."""
        return self.ready.done() and self.done is None and self._connection is not None

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> Ready:
        """Start the process; wait until it has opened everything."""
        await asyncio.to_thread(self._start)
        assert self._connection is not None
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._receive)
        ready = await self.ready
        if ready.error is not None:
            self.stop()
            raise UsageError(*ready.error)
        return ready

    def _start(self) -> None:
        from regard.serve.entry import run  # the process imports it by name; it loads no torch here

        self._connection, theirs = _CONTEXT.Pipe()
        given = (theirs, dict(self.folders), self.settings.opening, self.settings.niceness)
        self._process = _CONTEXT.Process(target=run, args=given, daemon=True)
        self._process.start()
        theirs.close()

    def compute(
        self, batch: Batch, take_part: Callable[[Part], None] = lambda _part: None
    ) -> asyncio.Future[Done]:
        """Begin to compute a batch; the future has a ConnectionError if the process dies of it.

        ``take_part`` gets the parts of answers that come before the batch is done.
        """
        assert self.idle
        self._take_part = take_part
        done = self.done = asyncio.get_running_loop().create_future()
        self._send(batch)
        return done

    def cancel(self, numbers: set[int]) -> None:
        """Let texts leave the batch between decoding steps."""
        self._send(Cancel(numbers))

    def set_threads(self, count: int) -> None:
        """Compute with that many threads from now on."""
        self._send(Threads(count))

    def kill(self) -> None:
        """End a process that does not listen; it is then replaced."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End the process."""
        self._close()
        if self._process is not None:
            self._process.terminate()

    def _send(self, message: Batch | Cancel | Threads) -> None:
        if self._connection is not None:
            try:
                self._connection.send(message)
            except OSError:
                self._end()

    def _receive(self) -> None:
        assert self._connection is not None
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            self._end()
            return
        if isinstance(message, Ready):
            self.ready.set_result(message)
            return
        if isinstance(message, Part):
            self._take_part(message)
            return
        done, self.done = self.done, None
        if done is not None and not done.done():
            done.set_result(message)

    def _end(self) -> None:
        """Tell whoever waits that the process has ended."""
        self._close()
        if not self.ready.done():
            self.ready.set_exception(
                RunError("a worker ended while it opened what is served.", "See `regard doctor`.")
            )
        if self.done is not None and not self.done.done():
            self.done.set_exception(ConnectionError("the worker ended"))
        self.when_gone(self)

    def _close(self) -> None:
        if self._connection is not None:
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            self._connection.close()
            self._connection = None
