"""Graceful stop: the first signal finishes the step and saves; the second stops immediately."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from regard.errors import Stopped


class StopRequest:
    """Handles SIGTERM and Ctrl-C while training."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, object] = {}

    def __enter__(self) -> "StopRequest":
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                self._previous[number] = signal.signal(number, self._handle)
            except ValueError:
                break  # not the main thread, which alone may handle signals
        return self

    def __exit__(self, *_raised: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise Stopped("stopped immediately by a second signal.", "Go on with --resume.")
        self.requested = True


@contextmanager
def stop_on_sigterm() -> Iterator[None]:
    """End what is not a step (reading data, evaluating at the end) as soon as SIGTERM arrives."""
    try:
        previous = signal.signal(signal.SIGTERM, _stop)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped(
        "stopped by a signal outside the steps; nothing was saved but earlier checkpoints.",
        "Go on with --resume if there are any; otherwise begin again.",
    )
