"""Requests between the gate and their answer, and how long one more would wait (Little's law).

    wait = requests in flight / requests answered per second

The queue of the engine does not see requests that the front itself has no time for: where models
are small, the front is the bottleneck. The rate is only known while the server is busy.
"""

import time
from collections import deque
from collections.abc import Callable

BUSY = 64  # requests in flight from which on the rate of answers is the rate that is possible
KNOWN = 16  # answers after which the rate is known
REMEMBERED = 128


class InFlight:
    """Counts requests.

    Args:
        clock: Gives seconds.

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.count = 0
        self._clock = clock
        self._ends: deque[float] = deque(maxlen=REMEMBERED)

    def begin(self) -> None:
        """Count a request that is let in."""
        self.count += 1

    def end(self) -> None:
        """Count a request that is answered."""
        self.count -= 1
        if self.count < BUSY:
            self._ends.clear()
        else:
            self._ends.append(self._clock())

    @property
    def wait(self) -> float:
        """Return the seconds until one more request would be answered; 0 if not known."""
        if self.count < BUSY or len(self._ends) < KNOWN:
            return 0.0
        return self.count * (self._clock() - self._ends[0]) / len(self._ends)
