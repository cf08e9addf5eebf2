"""How many workers, and with how many threads each: whichever answers most texts per second.

    k workers with cores // k threads, k = 1, 2, 4, ..., cores

Small models gain little from threads within a matrix product and much from larger batches.
A configuration must be a tenth faster than one with fewer workers, which needs less memory.
"""

import asyncio
import time
from itertools import cycle, islice
from typing import TYPE_CHECKING

from regard.account.limits import cores
from regard.serve.pool import Worker
from regard.serve.protocol import Batch
from regard.serve.served import Served

if TYPE_CHECKING:
    from regard.serve.engine import Engine

SECONDS = 0.4
MARGIN = 1.1


async def choose_workers(engine: "Engine") -> None:
    """Measure some numbers of workers and keep the best; the engine must not be in use yet."""
    measured = [served for served in engine.served.values() if measured_texts(served)]
    if not measured:
        return
    texts = list(islice(cycle(measured_texts(measured[0])), engine.settings.batch_texts))
    numbers = list(range(-len(texts), 0))
    batch = Batch(measured[0].name, "predict", {"truncate": True}, texts, numbers)
    best, chosen = 0.0, (1, cores())
    for workers in _candidates(cores()):
        threads = max(1, cores() // workers)
        await engine.set_workers(workers, threads)
        found = await measure(engine.workers, batch)
        if found > MARGIN * best:
            best, chosen = found, (workers, threads)
    await engine.set_workers(*chosen)
    engine.throughput, engine.measured = best, measured[0]


async def measure(workers: list[Worker], batch: Batch) -> float:
    """Answer the same batch over and over; return the texts per second."""

    async def work(worker: Worker, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            await worker.compute(batch)
            done += len(batch.texts)
        return done

    await asyncio.gather(*(worker.compute(batch) for worker in workers))  # warm up
    begin = time.perf_counter()
    counts = await asyncio.gather(*(work(worker, begin + SECONDS) for worker in workers))
    return sum(counts) / (time.perf_counter() - begin)


def _candidates(most: int) -> list[int]:
    return sorted({min(2**n, most) for n in range(most.bit_length() + 1)})


def measured_texts(served: Served) -> list[str]:
    """Return texts like those the run is for."""
    return [text for text, _ in served.facts.get("samples", ()) if text.strip()]
