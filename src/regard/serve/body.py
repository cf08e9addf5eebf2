"""The body of a request: read with limits, then given to the application while the client waits.

Plain ASGI: a body is counted while it is read, so no more than the limit is ever in memory.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from regard.serve.refusal import Refusal

Scope = Any
Receive = Callable[[], Any]
Send = Callable[[Any], Any]
KEPT_BODY = 1 << 16  # bytes of a body that is skipped, so that the connection can be used again
DISCARDED = 8  # times the limit that is read and thrown away, so that a client receives its 413


class Disconnected(Exception):
    """The client is gone."""


async def read_body(scope: Scope, receive: Receive, most: int, *, timeout: float) -> bytes:
    """Read a body of at most ``most`` bytes that arrives within ``timeout`` seconds."""
    body, size = bytearray(), 0
    too_large = Refusal(413, "too_large", f"a body has at most {most:,} bytes. Send less.")
    if declared_size(scope) > DISCARDED * most:
        raise too_large
    try:
        async with asyncio.timeout(timeout):
            more = True
            while more and size <= DISCARDED * most:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                size += len(message.get("body", b""))
                more = message.get("more_body", False)
                if size <= most:
                    body += message.get("body", b"")
    except TimeoutError:
        message = f"the body did not arrive within {timeout:g} s."
        raise Refusal(408, "slow", message) from None
    if size > most:
        raise too_large
    return bytes(body)


def declared_size(scope: Scope) -> int:
    """Return the Content-Length; 0 if there is none."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    return int(declared) if declared.isdigit() else 0


async def run_until_disconnect(
    app: Any,  # noqa: ANN401 - an ASGI application
    scope: Scope,
    body: bytes,
    receive: Receive,
    send: Send,
) -> None:
    """Run the application on a body that was read; cancel it if the client leaves."""
    given = False
    gone = asyncio.Event()

    async def replay() -> Any:  # noqa: ANN401
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    running = asyncio.ensure_future(app(scope, replay, send))
    watching = asyncio.ensure_future(watch())
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise Disconnected
        await running
    finally:
        for task in (running, watching):
            task.cancel()
        await asyncio.gather(running, watching, return_exceptions=True)
