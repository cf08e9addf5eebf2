"""The engine: requests in, answers out, computed in batches by worker processes.

    engine = Engine([Path("runs/scenes")], EngineSettings(deadline=30.0))
    await engine.start()
    answers = await engine.ask("scenes", "predict", ["Ein Hund."], {"truncate": False})
    await engine.stop()

A request is split into texts, which wait in queues (:mod:`regard.serve.queues`). Whenever a worker
is idle it takes a batch. What is not waited for any more (deadline, disconnected client) leaves the
queue, and the batch between decoding steps. All of this happens in one event loop, without torch.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from regard.serve.admission import admit
from regard.serve.canary import Canaries
from regard.serve.measure import choose_workers
from regard.serve.metrics import Metrics
from regard.serve.pool import Worker
from regard.serve.protocol import Batch, Done, Outcome, Text
from regard.serve.queues import URGENT, Item, Queues
from regard.serve.refusal import Refusal
from regard.serve.served import Served, find_served, name_folders, open_served
from regard.serve.settings import USAGE, EngineSettings

STUCK = 10.0  # seconds that a worker may go on with what nobody waits for
RESPAWN = 0.5  # seconds before a worker that died is replaced

TakePart = Callable[[int, Any], None]
"""Gets the place of a text and a part of its answer."""


class Engine:
    """Serves runs and indexes.

    Args:
        folders: Run folders and index folders; each is called by the name of its folder.
        settings: Bounds.
        metrics: Where counts go.

    """

    def __init__(
        self,
        folders: Sequence[Path],
        settings: EngineSettings | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.folders = name_folders(folders)
        self.settings = settings or EngineSettings()
        self.metrics = metrics or Metrics()
        self.served: dict[str, Served] = {}
        self.workers: list[Worker] = []
        self.throughput: float | None = None
        """Texts per second, if it was measured."""
        self.measured: Served | None = None
        """The run whose throughput it is."""
        self.threads = 1
        """Of each worker."""
        self.canaries = Canaries()
        self.draining = False
        """Whether the server is stopping: answers still come, readiness says no."""
        self.queues = Queues(self.settings)
        self._computing: dict[Worker, list[Item]] = {}
        self._numbers = count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self.metrics.watch(lambda: self.queues.texts)

    async def start(self) -> None:
        """Start the workers, and choose how many."""
        first = await self._add_worker()
        self.served = {
            name: open_served(name, self.folders[name], facts) for name, facts in first.items()
        }
        wanted = self.settings.workers
        if wanted is None:
            await choose_workers(self)
        else:
            await asyncio.gather(*(self._add_worker() for _ in range(wanted - 1)))

    async def _add_worker(self) -> Mapping[str, Mapping[str, Any]]:
        worker = Worker(self.folders, self.settings, self._replace)
        self.workers.append(worker)
        return (await worker.start()).facts

    async def set_workers(self, wanted: int, threads: int) -> None:
        """Have that many workers, each with that many threads."""
        missing = wanted - len(self.workers)
        await asyncio.gather(*(self._add_worker() for _ in range(missing)))
        for worker in self.workers[wanted:]:
            worker.stop()
        del self.workers[wanted:]
        self.threads = threads
        for worker in self.workers:
            worker.set_threads(threads)

    async def stop(self) -> None:
        """End the workers; what still waits is refused."""
        self._closed = True
        for item in self.queues:
            item.resolve(Outcome("cancelled"))
        for worker in self.workers:
            worker.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def find(self, name: str | None, *, task: str | None = None, kind: str = "run") -> Served:
        """Find what is served under a name; without one, the only one of that task or kind."""
        return find_served(self.served, name, task=task, kind=kind)

    async def ask(
        self,
        name: str,
        kind: str,
        texts: Sequence[Text],
        options: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
        urgent: bool = False,
        take_part: TakePart | None = None,
    ) -> list[Any]:
        """Answer texts, in order; raise a Refusal if one of them is refused.

        ``kind`` is a row of :data:`regard.serve.work.WORK`, ``options`` are its own (hashable
        values); ``deadline`` is in seconds from now; ``urgent`` texts go first; ``take_part``
        gets the place of a text and a part of its answer, while it grows. If the caller is
        cancelled, the work is dropped.
        """
        served = self.find(name)
        if not texts:
            return []
        sizes = await admit(served, texts, self.settings)
        if not urgent:
            self.check_room(sizes)
        items = self._enqueue(served, kind, texts, sizes, options or {}, urgent=urgent)
        if take_part is not None:
            for place, item in enumerate(items):
                item.take_part = partial(take_part, place)
        try:
            await asyncio.wait(
                [item.outcome for item in items], timeout=deadline or self.settings.deadline
            )
        finally:
            late = [item for item in items if not item.outcome.done()]
            self._drop(late)
        if (usage := USAGE.get()) is not None:
            usage.queue += max(item.queued for item in items)
            usage.inference += max(item.computed for item in items)
        if late:
            raise self._describe_late(late)
        return [_value(item.outcome.result(), place) for place, item in enumerate(items)]

    def check_room(self, sizes: Sequence[int] = (1,)) -> None:
        """Refuse texts of these sizes if the queue is full; by default the smallest request."""
        wait = self._estimate_wait()
        if not self.queues.has_room(sizes, wait):
            message = f"the queue is full: {self.queues.texts} texts wait. Send it again later."
            raise Refusal(429, "overloaded", message, retry_after=wait)

    def _estimate_wait(self) -> float:
        """Estimate the seconds until what waits is computed."""
        return self.queues.seconds / max(1, len(self.workers))

    def _enqueue(
        self,
        served: Served,
        kind: str,
        texts: Sequence[Text],
        sizes: Sequence[int],
        options: Mapping[str, Any],
        *,
        urgent: bool,
    ) -> list[Item]:
        key, since = (served.name, kind, *sorted(options.items())), time.monotonic()
        loop = asyncio.get_running_loop()
        since = URGENT if urgent else since
        items = [
            Item(next(self._numbers), text, size, key, options, since, loop.create_future())
            for text, size in zip(texts, sizes, strict=True)
        ]
        self.queues.push(items, first=urgent)
        self.metrics.tokens.add(sum(sizes), direction="in")
        loop.call_soon(self._dispatch)
        return items

    def _dispatch(self) -> None:
        """Give waiting texts to idle workers."""
        for worker in self.workers:
            if worker.idle and not self._closed and (items := self.queues.take()):
                self._in_background(self._finish(items, self._begin(worker, items)))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin(self, worker: Worker, items: list[Item]) -> asyncio.Future[Done]:
        """Give a batch to a worker."""
        name, kind, *_ = items[0].key
        now = time.monotonic()
        self._computing[worker] = items
        for item in items:
            item.worker = worker
            item.queued = 0.0 if item.since == URGENT else now - item.since
            self.metrics.queue_seconds.observe(item.queued)
        self.metrics.batch_texts.observe(len(items))
        self.metrics.batch_tokens.observe(sum(item.tokens for item in items))
        texts, numbers = [item.text for item in items], [item.number for item in items]
        takers = {item.number: item.take_part for item in items if item.take_part}
        return worker.compute(
            Batch(name, kind, items[0].options, texts, numbers),
            lambda part: takers[part.number](part.value),
        )

    async def _finish(self, items: list[Item], computing: asyncio.Future[Done]) -> None:
        """Wait for a batch, and hand out the answers."""
        try:
            done = await computing
        except ConnectionError:
            self._try_again(items)
            return
        finally:
            for item in items:
                item.worker = None
        for item, outcome in zip(items, done.outcomes, strict=True):
            item.computed = done.seconds
            item.resolve(outcome)
        self.queues.learn(items, done.seconds)
        self._dispatch()

    def _try_again(self, items: list[Item]) -> None:
        """Put back texts with which a worker died; one that kills a worker alone is given up."""
        for item in reversed(items):
            if item.tried:
                item.resolve(Outcome("failed", ["WorkerDied"]))
            elif not item.outcome.done():
                item.tried = True
                self.queues.push([item], first=True)

    def _replace(self, worker: Worker) -> None:
        """Start another worker for one that died."""
        if worker not in self.workers or self._closed or not worker.ready.done():
            return
        self.workers.remove(worker)
        self.metrics.workers_died.add()
        self._in_background(self._respawn())

    async def _respawn(self) -> None:
        await asyncio.sleep(RESPAWN)
        await self._add_worker()
        self._dispatch()

    def _drop(self, items: Sequence[Item]) -> None:
        """Take texts that nobody waits for out of the queue and out of batches."""
        for item in items:
            item.outcome.cancel()
        self.queues.drop(items)
        for worker in {item.worker for item in items if item.worker is not None}:
            worker.cancel({item.number for item in items if item.worker is worker})
            asyncio.get_running_loop().call_later(STUCK, self._end_if_stuck, worker, worker.done)

    def _end_if_stuck(self, worker: Worker, computing: asyncio.Future[Done] | None) -> None:
        """End a worker that is still busy with a batch that nobody waits for."""
        wanted = any(not item.outcome.done() for item in self._computing.get(worker, ()))
        if computing is not None and worker.done is computing and not wanted:
            worker.kill()

    def _describe_late(self, late: Sequence[Item]) -> Refusal:
        seconds = self.settings.deadline
        if any(item.worker is None for item in late):
            message = f"the request was still waiting after {seconds:g} s. Send it again later."
            return Refusal(429, "overloaded", message, retry_after=self._estimate_wait())
        message = f"the answer took more than {seconds:g} s. Send fewer or shorter texts."
        return Refusal(422, "deadline", message)


def _value(outcome: Outcome, place: int) -> Any:  # noqa: ANN401 - as the kind of work has it
    """Return an answer, or raise why there is none."""
    match outcome.kind:
        case "answered":
            return outcome.value
        case "refused":
            raise Refusal(422, "invalid", outcome.value, param=f"texts[{place}]")
        case "failed":
            error = Refusal(500, "failed", "the answer could not be computed.")
            error.add_note(" < ".join(outcome.value))
            raise error
        case "cancelled":
            raise Refusal(503, "stopping", "the server is stopping.", retry_after=1)
