"""The bounds of the engine, and what a request costs."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class EngineSettings:
    """Bounds of the engine."""

    workers: int | None = None
    """Worker processes; None chooses by a short measurement."""
    deadline: float = 30.0
    """Seconds a request may take, waiting included."""
    batch_tokens: int = 4096
    """The most padded tokens of a batch."""
    batch_texts: int = 64
    """The most texts of a batch."""
    queue_texts: int = 1024
    """The most texts that wait."""
    queue_tokens: int = 65_536
    """The most tokens that wait."""
    queue_seconds: float = 2.0
    """The most seconds of work that wait for each worker, by what such texts have taken lately."""
    request_texts: int = 64
    """The most texts of a request."""
    text_tokens: int = 16_384
    """The most tokens of a text."""
    decoding: Mapping[str, Any] = field(default_factory=dict)
    """Settings of [decoding] that override those of every run."""
    ensemble: Sequence[Path] = ()
    """Runs that answer together with every run."""
    niceness: int = 5
    """Of the workers, so that the front can refuse at once while every core computes."""
    guarded: bool = True
    """Whether translators are kept from endless repetition."""

    @property
    def opening(self) -> dict[str, Any]:
        """Return how workers open runs: the further arguments of ``work.open_served``."""
        return {
            "decoding": dict(self.decoding),
            "ensemble": tuple(self.ensemble),
            "guarded": self.guarded,
        }


@dataclass
class Usage:
    """What a request has cost so far; the engine adds to it, headers and logs read it."""

    task: str = ""
    texts: int = 0
    characters: int = 0
    tokens: int = 0
    tokenization: float = 0.0
    """Seconds."""
    queue: float = 0.0
    """Seconds until its last text was taken from the queue."""
    inference: float = 0.0
    """Seconds of the slowest batch it was part of."""


USAGE: ContextVar[Usage | None] = ContextVar("usage", default=None)
"""Set by whoever begins a request and wants to know what it cost."""
