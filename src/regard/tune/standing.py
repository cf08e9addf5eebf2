"""Where a search stands: trials done, the best so far, the time left. Nothing here decides."""

from typing import NamedTuple, Protocol, runtime_checkable

from regard.tune.halving import FINALISTS
from regard.tune.trials import Record


class Standing(NamedTuple):
    """Where a search stands."""

    done: int
    all: int
    """Trials of this rung and the earlier ones, and as many of the others as expected."""
    rung: int
    rungs: int
    metric: str
    best: Record | None
    seconds_left: float | None
    """None before the first trial."""


@runtime_checkable
class SearchWatcher(Protocol):
    """Receives the events of a search."""

    def say(self, text: str) -> None:
        """Receive a message."""
        ...

    def receive_standing(self, standing: Standing) -> None:
        """Receive where the search stands, after a step."""
        ...

    def receive_record(self, record: Record, standing: Standing) -> None:
        """Receive a finished trial."""
        ...


class Clock:
    """Extrapolates the time of a search from the costs of its trials.

    Args:
        last: The number of the last rung.

    """

    def __init__(self, last: int) -> None:
        self.last = last
        self.rung = self.done = self.all = 0
        self.spent = self.seconds = 0.0
        self.due: list[float] = []
        self.later = 0.0

    def enter(self, rung: int, costs: list[float]) -> None:
        """Begin a rung whose trials cost this much."""
        self.rung, self.due = rung, list(costs)
        kept, each = len(costs), sum(costs) / max(1, len(costs))
        self.all, self.later = self.done + kept, 0.0
        for _ in range(rung, self.last):
            kept, each = min(kept, max(FINALISTS, -(-kept // 3) + 1)), 3 * each
            self.all, self.later = self.all + kept, self.later + kept * each

    def finish(self, seconds: float) -> None:
        """Count a trial that took this long."""
        self.done += 1
        self.spent += self.due.pop(0)
        self.seconds += seconds

    def seconds_left(self, part: float) -> float | None:
        """Return the expected seconds to the end, with a part of the current trial done."""
        if not self.spent:
            return None
        current = part * self.due[0] if self.due else 0.0
        return (sum(self.due) - current + self.later) * self.seconds / self.spent
