"""Watchers: callbacks for what happens in a training. The loop itself never prints."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from regard.tasks.task import Evaluation


@dataclass(frozen=True)
class Progress:
    """The state of a training after a step."""

    step: int
    steps: int
    epoch: int
    loss: float
    """Loss per target without smoothing, a running mean over the last steps."""
    rate: float
    tokens_per_second: float
    """Input tokens; of a pair, those of the longer side."""
    seconds: float
    seconds_left: float


@runtime_checkable
class Watcher(Protocol):
    """Receives the events of a training."""

    def say(self, text: str) -> None:
        """Receive a message."""
        ...

    def step(self, progress: Progress) -> None:
        """Receive the progress after a step."""
        ...

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None:
        """Receive an evaluation on ``valid``."""
        ...


class SilentWatcher:
    """Ignores every event."""

    def say(self, text: str) -> None: ...

    def step(self, progress: Progress) -> None: ...

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None: ...
