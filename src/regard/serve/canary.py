"""The canary: a text of each run with a known answer, asked again before the server says ready.

The answer is the one that was stored when the run was evaluated, if this server reproduces one of
them when it is first asked; otherwise the first answer given here. Then it must stay the same.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.serve.refusal import Refusal
from regard.serve.served import Served

if TYPE_CHECKING:
    from regard.serve.engine import Engine

FRESH = 5.0  # seconds that a check holds
DEADLINE = 5.0
TRIED = 8
FALLBACK = "canary"


class Canary(NamedTuple):
    """A text and the answer it must have."""

    text: str
    answer: Any
    stored: bool
    """Whether the answer was stored with the run."""


class Canaries:
    """The canaries of an engine, and what came of the last check."""

    def __init__(self) -> None:
        self.known: dict[str, Canary] = {}
        self.found: dict[str, Any] = {}
        self.at = float("-inf")
        self.lock = asyncio.Lock()


async def check_canaries(engine: "Engine") -> dict[str, Any]:
    """Ask every canary, at most once in a few seconds; say whether all are answered right."""
    if engine.draining:
        return {"status": "stopping"}
    canaries = engine.canaries
    async with canaries.lock:
        if time.monotonic() - canaries.at > FRESH:
            canaries.found = await _check(engine, canaries)
            canaries.at = time.monotonic()
    return canaries.found


async def _check(engine: "Engine", canaries: Canaries) -> dict[str, Any]:
    found = {}
    for served in engine.served.values():
        if served.facts.get("task") is None:
            continue
        try:
            if served.name not in canaries.known:
                canaries.known[served.name] = await _choose(engine, served)
            canary = canaries.known[served.name]
            right = await _answer(engine, served, canary.text) == canary.answer
            origin = "stored" if canary.stored else "first"
            found[served.name] = {"canary": "right" if right else "wrong", "answer": origin}
        except Refusal as refusal:
            found[served.name] = {"canary": refusal.kind}
    ready = all(one["canary"] == "right" for one in found.values())
    return {"status": "ready" if ready else "failing", "runs": found}


async def _choose(engine: "Engine", served: Served) -> Canary:
    """Find a stored answer that is reproduced; else take the first answer as it is."""
    samples = [(text, answer) for text, answer in served.facts["samples"] if text.strip()][:TRIED]
    for text, stored in samples:
        if (answer := await _answer(engine, served, text)) == stored:
            return Canary(text, answer, stored=True)
    text = samples[0][0] if samples else FALLBACK
    return Canary(text, await _answer(engine, served, text), stored=False)


async def _answer(engine: "Engine", served: Served, text: str) -> Any:  # noqa: ANN401
    (found,) = await engine.ask(
        served.name, "predict", [text], {"truncate": True}, deadline=DEADLINE, urgent=True
    )
    return found["text"] or [round(number, 4) for number in found.get("vector", ())]
