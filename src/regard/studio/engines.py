"""Engines of :mod:`regard.serve`, one for each run that is asked, opened when it is first asked.

    async with engines.use(folder) as (engine, name):
        answers = await engine.ask(name, "predict", texts)

A few stay open; of more, the one that was not asked for longest is closed. A run that was trained
again is opened anew.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regard.errors import RegardError
from regard.run_files import SEAL
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.settings import EngineSettings

MOST = 3
SETTINGS = EngineSettings(workers=1, deadline=300.0, request_texts=256, queue_seconds=600.0)


@dataclass
class _Opened:
    """An engine, and who uses it."""

    engine: Engine
    started: "asyncio.Task[None]"
    users: int = 0


@dataclass
class Engines:
    """Engines by run folder, the one used last at the end."""

    _opened: dict[tuple[Path, int], _Opened] = field(default_factory=dict)

    @asynccontextmanager
    async def use(self, folder: Path) -> AsyncIterator[tuple[Engine, str]]:
        """Open the engine of a run, and keep it open meanwhile."""
        key = (folder, _find_version(folder))
        one = self._opened.pop(key, None) or self._open(folder)
        self._opened[key] = one
        one.users += 1
        try:
            await self._wait(key, one)
            await self._close_unused()
            yield one.engine, folder.name
        finally:
            one.users -= 1

    async def stop(self) -> None:
        """Close all."""
        opened, self._opened = list(self._opened.values()), {}
        for one in opened:
            one.started.cancel()
        await asyncio.gather(*(one.engine.stop() for one in opened))

    def _open(self, folder: Path) -> _Opened:
        engine = Engine([folder], SETTINGS)
        return _Opened(engine, asyncio.ensure_future(engine.start()))

    async def _wait(self, key: tuple[Path, int], one: _Opened) -> None:
        try:
            await asyncio.shield(one.started)
        except RegardError as error:
            self._opened.pop(key, None)
            await one.engine.stop()  # else it would go on trying
            raise Refusal(422, "invalid", f"{error.problem} {error.remedy}") from None

    async def _close_unused(self) -> None:
        idle = [key for key, one in self._opened.items() if not one.users and one.started.done()]
        for key in idle[: max(0, len(self._opened) - MOST)]:
            await self._opened.pop(key).engine.stop()


def _find_version(folder: Path) -> int:
    """Return what differs once a run was trained again."""
    file = folder / SEAL
    return file.stat().st_mtime_ns if file.is_file() else 0
