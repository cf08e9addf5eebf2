"""Translation of texts and HTML by a run that translates sentences.

    text -> units (sentences, objects masked) -> hypotheses -> restored -> joined

A unit whose masks do not come back is translated around its objects in a second request.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from regard.serve.engine import Engine
from regard.serve.markup import Document
from regard.serve.protect import Protected, mask, protect, restore
from regard.serve.segment import Part, around, drop_added_stop, join, split_text
from regard.serve.served import Served

Escape = Callable[[str], str]
Hypotheses = Mapping[str, Sequence[str]]
Result = TypeVar("Result")
AT_ONCE = 8192  # characters that are prepared in the event loop itself
SHORTEST = 32  # tokens that a unit may always have, if the model reads as many


class Translator:
    """Translates with one run.

    Args:
        engine: Computes.
        served: The run.

    """

    def __init__(self, engine: Engine, served: Served) -> None:
        self.engine, self.served = engine, served
        self.until = time.monotonic() + engine.settings.deadline
        seen = served.count([asked for asked, _ in served.facts["samples"]] or [""])
        usual = max(SHORTEST, 2 * max(seen))
        self.longest = min(served.facts["max_length"] - 1, usual)
        """The most tokens of a unit: translators fail on sentences far longer than they know."""

    def fits(self, unit: Protected) -> bool:
        """Whether a unit is short enough."""
        (tokens,) = self.served.count([_written(unit)])
        return tokens <= self.longest

    async def translate(self, texts: Sequence[str], alternatives: int = 0) -> list[list[str]]:
        """Translate texts; return the answer and at most so many others for each."""
        split = await _compute(texts, lambda text: split_text(protect(text), self.fits))
        found = await self._ask_units((part for parts in split for part in parts), alternatives + 1)
        return [_combine(parts, found, alternatives) for parts in split]

    async def translate_html(self, texts: Sequence[str]) -> list[str]:
        """Translate HTML."""
        documents = await _compute(texts, lambda text: Document(text, self.fits))
        found = await self._ask_units((unit for one in documents for unit in one.units), 1)
        return [
            document.render(partial(_choose, found, escape=document.escape))
            for document in documents
        ]

    async def _ask_units(self, parts: Iterable[Part], best: int) -> Hypotheses:
        """Ask for all units; for the parts of those whose objects are lost in a second request."""
        units = dict.fromkeys(part for part in parts if isinstance(part, Protected))
        found = await self._ask(map(_written, units), best)
        lost = [unit for unit in units if _restore(unit, found[_written(unit)][0]) is None]
        pieces = [_written(p) for unit in lost for p in around(unit) if isinstance(p, Protected)]
        return {**found, **await self._ask(pieces, 1)}

    async def _ask(self, sources: Iterable[str], best: int) -> dict[str, Sequence[str]]:
        """Ask for hypotheses of each text, in requests of the size that the engine takes."""
        asked, answers = list(dict.fromkeys(sources)), list[Any]()
        most = self.engine.settings.request_texts
        for n in range(0, len(asked), most):
            left = max(0.001, self.until - time.monotonic())
            answers += await self.engine.ask(
                self.served.name, "translate", asked[n : n + most], {"best": best}, deadline=left
            )
        return dict(zip(asked, answers, strict=True))


async def _compute(texts: Sequence[str], prepare: Callable[[str], Result]) -> list[Result]:
    """Prepare each text, in a thread if there is much of it."""
    if sum(map(len, texts)) <= AT_ONCE:
        return list(map(prepare, texts))
    return await asyncio.to_thread(lambda: list(map(prepare, texts)))


def _written(unit: Protected) -> str:
    """Return a unit as the model reads it."""
    return " ".join(mask(unit)[0].split())


def _restore(unit: Protected, answer: str, escape: Escape = str) -> str | None:
    return restore(answer, mask(unit)[1], unit.objects, escape)


def _choose(found: Hypotheses, unit: Protected, *, escape: Escape = str, rank: int = 0) -> str:
    """Return the translation of a unit: the hypothesis of that rank, or the best that is whole."""
    hypotheses = found[_written(unit)]
    for place in (min(rank, len(hypotheses) - 1), 0):
        if (whole := _restore(unit, hypotheses[place], escape)) is not None:
            return whole

    def translate(piece: Protected) -> str:
        return escape(drop_added_stop(found[_written(piece)][0], piece.text))

    return join(around(unit), translate)


def _combine(parts: Sequence[Part], found: Hypotheses, alternatives: int) -> list[str]:
    """Join the hypotheses of a text's units rank by rank; each result once."""
    joined = (join(parts, partial(_choose, found, rank=rank)) for rank in range(alternatives + 1))
    return list(dict.fromkeys(joined))
