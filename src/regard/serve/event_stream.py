"""Server-sent events: an answer sent while it grows.

data: {...}          one event per part
data: {"error": ...} if the rest cannot be computed
data: [DONE]         at the end
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import orjson

from regard.serve.engine import TakePart

Ask = Callable[[TakePart], Coroutine[Any, Any, list[Any]]]
"""Asks the engine, with a function that takes parts; returns the whole choices."""
DONE = b"data: [DONE]\n\n"


def event(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON has
    """Write an event."""
    return b"data: " + orjson.dumps(value) + b"\n\n"


class GrowingChoices:
    """Choices of :mod:`regard.serve.completions` that are asked for, part by part.

    A worker that dies is replaced and begins again: what was sent before is left out then.

    Args:
        ask: Asks the engine.
        choices: How many there will be.

    """

    def __init__(self, ask: Ask, choices: int) -> None:
        self._parts: asyncio.Queue[tuple[int, Any] | None] = asyncio.Queue()
        self._sent = [(0, 0)] * choices
        self._finished = [False] * choices
        self._first: tuple[int, Any] | None = None
        self._asking = asyncio.ensure_future(ask(self._take))
        self._asking.add_done_callback(lambda _: self._parts.put_nowait(None))

    async def begin(self) -> None:
        """Wait for the first part; raise the refusal if there is none."""
        try:
            self._first = await self._parts.get()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if self._first is None:
            self._asking.result()

    async def parts(self) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Give places of choices and parts of them; at last what is left of each."""
        part = self._first
        while part is not None:
            yield part
            part = await self._parts.get()
        for place, whole in enumerate(self._asking.result()):
            if not self._finished[place]:
                yield place, _rest(whole, *self._sent[place])

    def whole(self) -> list[Any]:
        """Return the whole choices, when all parts were given."""
        return self._asking.result()

    def cancel(self) -> None:
        """Take the work back."""
        self._asking.cancel()

    def _take(self, place: int, part: dict[str, Any]) -> None:
        characters, tokens = self._sent[place]
        if part["at"] != characters or self._finished[place]:
            return
        listed = part["logprobs"]["tokens"] if part["logprobs"] else []
        self._sent[place] = characters + len(part["text"]), tokens + len(listed)
        self._finished[place] = part["finish_reason"] is not None
        self._parts.put_nowait((place, part))


def _rest(whole: dict[str, Any], characters: int, tokens: int) -> dict[str, Any]:
    """Cut off what was sent."""
    logprobs = whole["logprobs"]
    if logprobs is not None:
        logprobs = {name: column[tokens:] for name, column in logprobs.items()}
    return {**whole, "text": whole["text"][characters:], "logprobs": logprobs}
