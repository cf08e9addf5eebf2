"""Stopping on request: a first signal lets the step finish and saves; a second ends at once."""

import signal
from types import FrameType

from regard.errors import Stopped


class StopRequest:
    """Listens for SIGTERM and Ctrl-C while training."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "StopRequest":
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                self._before[number] = signal.signal(number, self._hear)
            except ValueError:
                break  # not the main thread: signals are someone else's to hear
        return self

    def __exit__(self, *_raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise Stopped("stopped at once by a second signal.", "Go on with --resume.")
        self.asked = True
