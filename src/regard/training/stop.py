"""Graceful stop: the first signal finishes the step and saves; the second stops immediately."""

import signal
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
