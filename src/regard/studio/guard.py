"""The guard: who may ask the studio, and what browsers may do with its answers.

    Host               one of ours, exactly and once: a name that resolves to 127.0.0.1 is refused
    Origin             ours, if there is one
    Sec-Fetch-Site     same-origin or none; from elsewhere only a visit to a page
    x-studio-token     with everything but GET and HEAD; a page of another origin cannot send it
    content-type       application/json, if there is a body: forms are refused

Every answer forbids scripts and styles but our own files, frames, and requests to other hosts.
"""

import asyncio
import json
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from regard.serve.body import Disconnected, Receive, Scope, Send, read_body, run_until_disconnect
from regard.serve.gate import describe
from regard.serve.refusal import Refusal
from regard.serve.routes.own import render

TOKEN = b"x-studio-token"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
READING, WRITING = frozenset({"GET", "HEAD"}), frozenset({"POST"})
PARTS = ("/api/", "/static/")
"""Paths that only our own pages fetch; all others are pages."""


@dataclass(frozen=True)
class GuardSettings:
    """Who is let in."""

    hosts: frozenset[str]
    """Values of the Host header, each with its port."""
    token: str
    body: int = 16 << 20
    """The most bytes of a body."""
    read_timeout: float = 30.0


class Guard:
    """The outermost layer.

    Args:
        app: The application inside.
        settings: Who is let in.
        log: Takes the description of an unexpected error.

    """

    def __init__(
        self,
        app: Any,  # noqa: ANN401 - an ASGI application
        settings: GuardSettings,
        log: Any = None,  # noqa: ANN401 - a function of a line
    ) -> None:
        self.app, self.settings, self.log = app, settings, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            return
        answer = _Answer(send)
        try:
            check(scope, self.settings)
            most, seconds = self.settings.body, self.settings.read_timeout
            body = await read_body(scope, receive, most, timeout=seconds)
            await run_until_disconnect(self.app, scope, body, receive, answer)
        except Refusal as refusal:
            await answer.refuse(refusal)
        except (Disconnected, asyncio.CancelledError):
            return
        except Exception as error:
            if self.log is not None:
                self.log(json.dumps({"error": describe(error)}))
            with suppress(RuntimeError, OSError):
                failed = Refusal(500, "failed", "internal error; the terminal says where.")
                await answer.refuse(failed)


def check(scope: Scope, settings: GuardSettings) -> None:
    """Refuse a request that does not come from our pages or from the user."""
    headers, method = _Headers(scope["headers"]), scope["method"]
    if headers.single(b"host") not in settings.hosts:
        raise Refusal(421, "host", "this address is not the studio's; open the one it printed.")
    if method not in READING | WRITING:
        raise Refusal(405, "method", f"the method is one of {', '.join(READING | WRITING)}.")
    _check_origin(headers, scope["path"], settings, reading=method in READING)
    if method in WRITING:
        _check_token(headers, settings.token)
        if headers.single(b"content-type").partition(";")[0].strip() != "application/json":
            raise Refusal(415, "invalid", "a body is JSON: send content-type: application/json.")


def _check_origin(
    headers: "_Headers", path: str, settings: GuardSettings, *, reading: bool
) -> None:
    origin, site = headers.single(b"origin"), headers.single(b"sec-fetch-site")
    if origin and origin not in {f"http://{host}" for host in settings.hosts}:
        raise Refusal(403, "origin", "only the studio's own pages may ask it.")
    if site in ("", "same-origin") or (site == "none" and reading):
        return
    visits = headers.single(b"sec-fetch-mode") == "navigate"
    alone = headers.single(b"sec-fetch-dest") == "document"
    if not (reading and visits and alone and not path.startswith(PARTS)):
        raise Refusal(403, "origin", "only the studio's own pages may ask it.")


def _check_token(headers: "_Headers", token: str) -> None:
    given = headers.single(TOKEN)
    if not secrets.compare_digest(given.encode(), token.encode()):
        message = "the token is missing or wrong; open the address that the studio printed."
        raise Refusal(401, "token", message)


class _Headers:
    """Headers by name, as they were sent."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.raw = list(raw)

    def single(self, name: bytes) -> str:
        """Return the value of a header; nothing if it is missing or sent twice."""
        values = [value for one, value in self.raw if one.lower() == name]
        if len(values) > 1:
            raise Refusal(400, "invalid", f"the header {name.decode()} was sent twice.")
        return values[0].decode("latin-1") if values else ""


class _Answer:
    """What is sent, with the headers of every answer."""

    def __init__(self, send: Send) -> None:
        self._send, self._begun = send, False

    async def __call__(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            own = list(message.get("headers", ()))
            given = {name.lower() for name, _ in own}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            kept = [*own, *((name, value) for name, value in added if name not in given)]
            message = {**message, "headers": kept}
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal, unless an answer has begun."""
        if self._begun:
            return
        body = json.dumps(render(refusal)).encode()
        headers = {
            **refusal.headers,
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",  # the body was perhaps not read
        }
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self({"type": "http.response.start", "status": refusal.status, "headers": pairs})
        await self({"type": "http.response.body", "body": body})
