"""A worker: a process that has every served model open and computes one batch at a time.

    front --Batch--> worker --list of Outcome--> front
    front --Cancel-> worker                        asked for between decoding steps

The front holds the other end of a pipe. When the front is gone, the worker ends.
"""

import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from regard.errors import RegardError, UsageError
from regard.serve.protocol import Batch, Cancel, Done, Outcome, Part, Ready, Threads
from regard.serve.work import ALONE, WORK, Opened, describe, open_served


class _Gone(Exception):
    """The front has closed its end."""


class Inbox:
    """Messages of the front; those that cancel are taken out of turn.

    Args:
        connection: The pipe.

    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.waiting: deque[Any] = deque()
        self.cancelled: set[int] = set()

    def next(self) -> Any:  # noqa: ANN401 - any message
        """Wait for the next message that is no cancellation."""
        while not self.waiting:
            self._receive()
        return self.waiting.popleft()

    def find_cancelled(self) -> set[int]:
        """Return the numbers of the texts that were cancelled by now."""
        while self.connection.poll():
            self._receive()
        return self.cancelled

    def _receive(self) -> None:
        try:
            message = self.connection.recv()
        except (EOFError, OSError) as error:
            raise _Gone from error
        if isinstance(message, Cancel):
            self.cancelled |= message.numbers
        else:
            self.waiting.append(message)


def run_worker(
    connection: Connection, folders: Mapping[str, Path], opening: Mapping[str, Any]
) -> None:
    """Open what is served, say so, and compute batches until the front is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the front decides when to stop
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    try:
        opened = {name: open_served(folder, **opening) for name, folder in folders.items()}
        ready = Ready({name: describe(one) for name, one in opened.items()})
    except RegardError as error:
        connection.send(Ready({}, (error.problem, error.remedy)))
        return
    connection.send(ready)
    try:
        _serve(Inbox(connection), opened)
    except (_Gone, BrokenPipeError):
        return


def _serve(inbox: Inbox, opened: Mapping[str, Opened]) -> None:
    while True:
        message = inbox.next()
        if isinstance(message, Threads):
            torch.set_num_threads(message.number)
            continue
        begin = time.perf_counter()
        outcomes = compute(
            message, opened[message.name], inbox.find_cancelled, inbox.connection.send
        )
        inbox.cancelled -= set(message.numbers)
        inbox.connection.send(Done(outcomes, time.perf_counter() - begin))


def compute(
    batch: Batch,
    opened: Opened,
    find_cancelled: Callable[[], set[int]],
    send: Callable[[Part], None] = lambda _part: None,
) -> list[Outcome]:
    """Compute a batch; a text that is refused does not spoil the others."""
    if len(batch.texts) > 1 and batch.kind in ALONE:
        return _compute_in_parts(batch, 1, opened, find_cancelled, send)

    def cancelled() -> Sequence[int]:
        gone = find_cancelled()
        return [place for place, number in enumerate(batch.numbers) if number in gone]

    def report(place: int, value: Any) -> None:  # noqa: ANN401 - as the kind of work has it
        send(Part(batch.numbers[place], value))

    if len(cancelled()) == len(batch.numbers):
        return [Outcome("cancelled")] * len(batch.numbers)
    try:
        _let_leave(opened, cancelled)
        values = WORK[batch.kind](opened._replace(report=report), batch.texts, batch.options)
    except (_Gone, BrokenPipeError):
        raise
    except Exception as error:
        if len(batch.texts) == 1:
            return [_describe_error(error)]
        # Halves: few texts are refused, the others stay together.
        return _compute_in_parts(batch, len(batch.texts) // 2, opened, find_cancelled, send)
    return [Outcome("answered", value) for value in values]


def _compute_in_parts(
    batch: Batch,
    size: int,
    opened: Opened,
    find_cancelled: Callable[[], set[int]],
    send: Callable[[Part], None],
) -> list[Outcome]:
    parts = (compute(part, opened, find_cancelled, send) for part in batch.split(size))
    return list(chain.from_iterable(parts))


def _let_leave(opened: Opened, cancelled: Callable[[], Sequence[int]]) -> None:
    """Let the searches of a run ask which texts are cancelled."""
    if opened.run is not None:
        opened.run.task.cancelled = cancelled


def _describe_error(error: Exception) -> Outcome:
    """Say why a text has no answer; an unexpected error by its place, without its message."""
    if isinstance(error, UsageError):
        return Outcome("refused", f"{error.problem} {error.remedy}")
    places = traceback.extract_tb(error.__traceback__)
    return Outcome("failed", [type(error).__name__, *(f"{p.filename}:{p.lineno}" for p in places)])
