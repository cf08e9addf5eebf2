"""Many texts answered in order by the engine and its workers; the answers are those of one process.

    the first CHUNK texts are answered here and timed
    what follows is answered here too, unless it would take longer than WORTH seconds

A chunk is one batch here and in a worker, whatever else is computed: answers do not depend on the
number of workers.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from regard.account.limits import cores
from regard.inference.predictor import CHUNK, Predictor
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.settings import EngineSettings
from regard.tasks.task import Prediction

WORTH = 15.0  # seconds of work beyond which the start of workers pays
AHEAD = 64  # chunks that are read to estimate the work
ANY_NUMBER = 1 << 62
ENDLESS = 1e9  # seconds

Chunk = list[str]
Answer = Callable[[Chunk], list[Prediction]]
Asked = Future[list[Prediction]]


class Question(NamedTuple):
    """What is asked of every text: the options of :meth:`Predictor.answer`."""

    truncate: bool = False
    vectors: bool = False


class Opening(NamedTuple):
    """A run as it was opened here."""

    folder: Path
    decoding: dict[str, Any]
    ensemble: Sequence[Path] = ()

    def settings(self, workers: int) -> EngineSettings:
        """Return settings without bounds: there is one client, and it waits."""
        return EngineSettings(
            workers=workers,
            deadline=ENDLESS,
            batch_texts=CHUNK,
            batch_tokens=ANY_NUMBER,
            queue_texts=ANY_NUMBER,
            queue_tokens=ANY_NUMBER,
            queue_seconds=ENDLESS,
            request_texts=CHUNK,
            text_tokens=ANY_NUMBER,
            decoding=self.decoding,
            ensemble=self.ensemble,
            guarded=False,
            niceness=0,
        )


def answer_all(
    model: Predictor, texts: Iterable[str], question: Question, opening: Opening
) -> Iterator[Prediction]:
    """Answer a stream of any length, a bounded number of texts at a time."""
    chunks = _cut(texts)
    if (first := next(chunks, None)) is None:
        return

    def answer(chunk: Chunk) -> list[Prediction]:
        return model.answer(chunk, truncate=question.truncate, vectors=question.vectors)

    begin = time.perf_counter()
    answers = answer(first)
    seconds = time.perf_counter() - begin
    yield from answers
    ahead = list(islice(chunks, AHEAD))
    rest = chain(ahead, chunks)
    if cores() == 1 or seconds * len(ahead) < WORTH:
        for chunk in rest:
            yield from answer(chunk)
        return
    workers = cores()
    with _BackgroundEngine(opening, workers) as engine:
        yield from _answer_in_order(rest, partial(engine.ask, question), answer, most=2 * workers)


def _cut(texts: Iterable[str]) -> Iterator[Chunk]:
    iterator = iter(texts)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _answer_in_order(
    chunks: Iterable[Chunk], ask: Callable[[Chunk], Asked], answer: Answer, *, most: int
) -> Iterator[Prediction]:
    """Have ``most`` chunks waiting; one that is refused is answered here, to raise the reason."""
    waiting: deque[tuple[Chunk, Asked]] = deque()

    def collect() -> list[Prediction]:
        chunk, asked = waiting.popleft()
        try:
            return asked.result()
        except Refusal:
            return answer(chunk)

    for chunk in chunks:
        waiting.append((chunk, ask(chunk)))
        if len(waiting) > most:
            yield from collect()
    while waiting:
        yield from collect()


class _BackgroundEngine:
    """An engine in an event loop of its own thread; its workers end when it is left."""

    def __init__(self, opening: Opening, workers: int) -> None:
        self.name = opening.folder.resolve().name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._opening, self._workers, self._numbers = opening, workers, count()
        self._engine: Engine | None = None

    def __enter__(self) -> "_BackgroundEngine":
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def ask(self, question: Question, chunk: Chunk) -> Asked:
        """Let a chunk be answered as one batch, for which it has a queue of its own."""
        assert self._engine is not None
        options = {**question._asdict(), "chunk": next(self._numbers)}
        asking = self._engine.ask(self.name, "answer", chunk, options)
        return asyncio.run_coroutine_threadsafe(asking, self._loop)

    async def _start(self) -> None:
        self._engine = Engine([self._opening.folder], self._opening.settings(self._workers))
        await self._engine.start()

    async def _stop(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if self._engine is not None:
            await self._engine.stop()
        await asyncio.gather(*left, return_exceptions=True)
