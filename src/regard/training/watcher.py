"""Watchers: whoever wants to see training happen. The loop tells; it never prints."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from regard.tasks.task import Measured


@dataclass(frozen=True)
class Progress:
    """Where training stands after a step."""

    step: int
    steps: int
    epoch: int
    loss: float
    """Plain loss per target, a running mean over the last steps."""
    rate: float
    tokens_per_second: float
    """Of tokens read, on the longer side of a pair."""
    seconds: float
    seconds_left: float


@runtime_checkable
class Watcher(Protocol):
    """Someone who looks on."""

    def say(self, text: str) -> None:
        """Hear one sentence."""
        ...

    def step(self, progress: Progress) -> None:
        """See one step done."""
        ...

    def measured(self, progress: Progress, measured: Measured) -> None:
        """See the model measured on ``valid``."""
        ...


class Nobody:
    """Nobody looks on."""

    def say(self, text: str) -> None: ...

    def step(self, progress: Progress) -> None: ...

    def measured(self, progress: Progress, measured: Measured) -> None: ...
