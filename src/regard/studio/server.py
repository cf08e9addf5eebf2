"""The studio's server: it stops at the first signal, since nobody waits for its answers."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from regard.serve.server import configure

LINGER = 1  # seconds in which running requests may end


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on the first signal, and leave the exit status alone."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._stop)
        yield
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(name)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


async def run_server(app: Any, listening: socket.socket) -> None:  # noqa: ANN401 - ASGI
    """Serve until a signal."""
    await _Server(configure(app, LINGER)).serve(sockets=[listening])
