"""The gate: what every request passes before any route, and every answer after it.

    key checked, body read with limits, handler cancelled when the client leaves,
    one line of log and one count per request

Plain ASGI: a body is counted while it is read, so no more than the limit is ever in memory. The log
has method, route, status, times and numbers of tokens; never a text, an address or a key.
"""

import asyncio
import json
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from regard.serve.body import (
    KEPT_BODY,
    Disconnected,
    Receive,
    Scope,
    Send,
    declared_size,
    read_body,
    run_until_disconnect,
)
from regard.serve.dialect import Dialect
from regard.serve.engine import Engine
from regard.serve.in_flight import InFlight
from regard.serve.keys import Keys
from regard.serve.refusal import Refusal
from regard.serve.settings import USAGE, Usage

FindDialect = Callable[[str], Dialect]
"""From a path to the dialect that shapes its refusals."""
WITHOUT_KEY = {"/healthz", "/readyz", "/health"}


@dataclass(frozen=True)
class GateSettings:
    """Limits of a request."""

    body: int = 1 << 20
    """The most bytes of a body."""
    read_timeout: float = 10.0
    """Seconds in which the body has to arrive."""
    log: Callable[[str], object] | None = None
    """Takes a line of JSON per request."""


class Gate:
    """The outermost layer.

    Args:
        app: The application inside.
        engine: Whose metrics count, and which says whether the server is stopping.
        keys: The API keys; none lets everybody in.
        find_dialect: Gives the dialect of a path, which shapes refusals.
        settings: Limits.

    """

    def __init__(
        self,
        app: Any,  # noqa: ANN401 - an ASGI application
        engine: Engine,
        keys: Keys,
        find_dialect: FindDialect,
        settings: GateSettings,
    ) -> None:
        self.app, self.engine, self.keys = app, engine, keys
        self.find_dialect, self.settings = find_dialect, settings
        self.in_flight = InFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            return
        answer = _Answer(send, self.engine, self.find_dialect(scope["path"]))
        token = USAGE.set(Usage())
        try:
            await self._serve(scope, receive, answer)
        except Refusal as refusal:
            await self._refuse(scope, refusal, answer)
        except (Disconnected, asyncio.CancelledError):
            answer.outcome = "disconnected"
        except Exception as error:
            answer.error = describe(error)
            failed = Refusal(500, "failed", "internal error; the server's log says where.")
            with suppress(RuntimeError, OSError):
                await self._refuse(scope, failed, answer)
        finally:
            self._note(scope, answer)
            USAGE.reset(token)

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        path = scope["path"]
        if self.keys and path not in WITHOUT_KEY and not self.find_dialect(path).checks_keys:
            self.keys.check(scope["headers"])
        if scope["method"] != "POST":
            await self._answer(scope, receive, answer)
            return
        self._check_room()  # before anything is read: under overload this is most of it
        self.in_flight.begin()
        try:
            await self._answer(scope, receive, answer)
        finally:
            self.in_flight.end()

    def _check_room(self) -> None:
        """Refuse a request if the queue of the engine is full, or the front has too much to do."""
        self.engine.check_room()
        most, wait = self.engine.settings, self.in_flight.wait
        if self.in_flight.count >= most.queue_texts or wait > most.queue_seconds:
            message = f"{self.in_flight.count} requests are being answered. Send it again later."
            raise Refusal(429, "overloaded", message, retry_after=wait)

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        body = await read_body(
            scope, receive, self.settings.body, timeout=self.settings.read_timeout
        )
        await run_until_disconnect(self.app, scope, body, receive, answer)

    async def _refuse(self, scope: Scope, refusal: Refusal, answer: "_Answer") -> None:
        """Refuse a request that no route has seen."""
        dialect, headers = self.find_dialect(scope["path"]), refusal.headers
        if refusal.kind != "overloaded" or declared_size(scope) > KEPT_BODY:
            headers = {**headers, "connection": "close"}  # the body was not read
        await answer.give(dialect.status(refusal), dialect.refuse(refusal), headers)
        answer.reason = refusal.kind

    def _note(self, scope: Scope, answer: "_Answer") -> None:
        """Count the request and log it."""
        route, usage = getattr(scope.get("route"), "path", "unmatched"), USAGE.get() or Usage()
        seconds, metrics = time.perf_counter() - answer.begin, self.engine.metrics
        metrics.requests.add(route=route, task=usage.task, outcome=answer.outcome)
        metrics.request_seconds.observe(seconds, route=route)
        if answer.reason:
            metrics.refused.add(reason=answer.reason)
        if self.settings.log is None:
            return
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "id": answer.id,
            "method": scope["method"] if scope["method"].isalpha() else "?",
            "route": route,
            "status": answer.status,
            "outcome": answer.outcome,
            "ms": round(1000 * seconds, 2),
            "queue_ms": round(1000 * usage.queue, 2),
            "texts": usage.texts,
            "tokens": usage.tokens,
        }
        if answer.error:
            line["error"] = answer.error
        self.settings.log(json.dumps(line))


class _Answer:
    """What is sent, and what is known about it afterwards."""

    def __init__(self, send: Send, engine: Engine, dialect: Dialect) -> None:
        self.id, self.begin = uuid.uuid4().hex, time.perf_counter()
        self._send, self._engine, self._dialect = send, engine, dialect
        self.status = 0
        self.outcome = "none"
        self.reason = ""
        self.error: list[str] = []

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - an ASGI message
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.outcome = f"{self.status // 100}xx"
            headers = [*message.get("headers", ()), (b"x-request-id", self.id.encode())]
            added = self._dialect.headers()
            headers += [(name.encode(), value.encode()) for name, value in added.items()]
            headers += self._time_headers(dict(headers).get(b"content-type", b""))
            if self._engine.draining:
                headers.append((b"connection", b"close"))
            message = {**message, "headers": headers}
            reasons = [value for name, value in headers if name == b"x-refused"]
            self.reason = reasons[0].decode() if reasons else self.reason
        await self._send(message)

    def _time_headers(self, content: bytes) -> list[tuple[bytes, bytes]]:
        """Say what the request has cost; a stream has not cost it yet when it begins."""
        usage = USAGE.get()
        if usage is None or not usage.texts or content.startswith(b"text/event-stream"):
            return []
        total = time.perf_counter() - self.begin
        seconds = {
            "x-compute-time": total,
            "x-total-time": total,
            "x-tokenization-time": usage.tokenization,
            "x-queue-time": usage.queue,
            "x-inference-time": usage.inference,
        }
        found = {"x-compute-characters": usage.characters, "x-compute-tokens": usage.tokens}
        found |= {name: round(1000 * value) for name, value in seconds.items()}
        return [(name.encode(), str(value).encode()) for name, value in found.items()]

    async def give(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send an answer that no route has given, if none has begun."""
        if self.status:
            return
        sent = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            **headers,
        }
        start = {"type": "http.response.start", "status": status}
        encoded = [(name.encode(), value.encode()) for name, value in sent.items()]
        await self({**start, "headers": encoded})
        await self({"type": "http.response.body", "body": body})


def describe(error: BaseException) -> list[str]:
    """Say what an error is and where it arose, without its message, which may hold a text."""
    places = traceback.extract_tb(error.__traceback__)
    notes = getattr(error, "__notes__", [])
    return [type(error).__name__, *notes, *(f"{p.filename}:{p.lineno}" for p in places[-5:])]
