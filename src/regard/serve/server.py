"""The server: sockets, slow clients, signals, and a stop that loses no accepted request.

    SIGTERM -> /readyz says 503, answers close their connection -> after ``grace`` seconds no new
    connection is accepted -> accepted requests are answered -> exit 0

A second signal stops at once.
"""

import asyncio
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from regard.errors import UsageError
from regard.serve.engine import Engine

HEADER_SECONDS = 5.0
HEADER_BYTES = 1 << 16
CONNECTIONS = 4096
LINGER = 1.0  # seconds in which a connection may still bring the request it was opened for
BACKLOG = 2048


class Protocol(HttpToolsProtocol):
    """HTTP/1.1 for clients that may be slow or malicious."""

    _timer: asyncio.TimerHandle | None = None
    _received = 0

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Read; headers must be complete in time and of bounded size."""
        if not self._in_request:
            self._received += len(data)
            if self._received > HEADER_BYTES + 2 * (1 << 16):
                self.transport.abort()
                return
            if self._timer is None:
                self._expect_headers()
        super().data_received(data)
        if self._in_request:
            self._stop_timer()
            self._received = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close; a connection without a request may still bring one for a moment."""
        if self._in_request:
            self.cycle.keep_alive = False
        else:
            self.loop.call_later(LINGER, self._close_if_idle)

    @property
    def _in_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_headers(self) -> None:
        self._timer = self.loop.call_later(HEADER_SECONDS, self._close_if_idle)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        if self._in_request:
            self.cycle.keep_alive = False
        elif not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn that drains before it stops.

    Args:
        config: uvicorn's.
        engine: Is notified when draining begins.
        grace: Seconds between the signal and the end of accepting.

    """

    def __init__(self, config: uvicorn.Config, engine: Engine, grace: float) -> None:
        super().__init__(config)
        self.engine, self.grace = engine, grace

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Drain on the first signal, stop at once on the second."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._stop)
        try:
            yield
        finally:
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(name)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the connections that wait to be accepted, then stop accepting, all at once."""
        waiting = [connection for one in sockets or () for connection in _accept_all(one)]
        for server in self.servers:
            server.close()
        for connection in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        await super().shutdown(sockets)

    def _protocol(self) -> Protocol:
        return Protocol(self.config, self.server_state, self.lifespan.state)

    def _stop(self) -> None:
        if self.engine.draining:
            self.should_exit = self.force_exit = True
            return
        self.engine.draining = True
        asyncio.get_running_loop().call_later(self.grace, self._stop_accepting)

    def _stop_accepting(self) -> None:
        self.should_exit = True


def _accept_all(listening: socket.socket) -> Iterator[socket.socket]:
    """Accept what waits; closing the socket would reset it."""
    while True:
        try:
            yield listening.accept()[0]
        except OSError:  # nothing is left
            return


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            "Name another with --host and --port; --port 0 takes a free one.",
        ) from error


def raise_file_limit() -> None:
    """Allow as many open connections as the system does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with_limit = min(hard, 1 << 16) if hard != resource.RLIM_INFINITY else 1 << 16
    resource.setrlimit(resource.RLIMIT_NOFILE, (with_limit, hard))


def configure(app: Any, graceful: int) -> uvicorn.Config:  # noqa: ANN401 - an ASGI application
    """Configure uvicorn; running requests have ``graceful`` seconds to end."""
    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=graceful,
    )


async def run_server(
    app: Any,  # noqa: ANN401 - an ASGI application
    engine: Engine,
    listening: socket.socket,
    *,
    grace: float,
) -> None:
    """Serve until a signal, then drain."""
    raise_file_limit()
    config = configure(app, int(engine.settings.deadline) + 5)
    await Server(config, engine, grace).serve(sockets=[listening])
