"""The task: the one interface between training, inference and what an answer is.

A task knows its fields, how texts become ids, what a batch loses, how a model answers and how its
answers are measured. The loop knows none of it.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from torch import nn

from regard.data.batch import Batch
from regard.data.store import Store
from regard.tasks.losses import Loss
from regard.text.tokenizer import Tokenizer


class Sample(NamedTuple):
    """One answer beside what was asked and what was expected."""

    asked: str
    expected: str
    answered: str


class Measured(NamedTuple):
    """What a model scores on a split, beside what a plain baseline scores there."""

    metrics: dict[str, float]
    baseline: dict[str, float]
    signature: dict[str, str]
    count: int
    samples: list[Sample]


class Answered(NamedTuple):
    """One answer to one text."""

    text: str
    log_probability: float
    truncated: int
    """Tokens of the question that did not fit and were not read."""


@runtime_checkable
class Task(Protocol):
    """What an answer is."""

    fields: int
    metric: str
    """The metric that chooses the best model; higher is better."""
    tokenizer: Tokenizer

    def build(self) -> nn.Module:
        """Build the model, its weights drawn from torch's generator."""
        ...

    def begin(self, model: nn.Module, store: Store) -> None:
        """Let what the training examples show shape the model before its first step."""
        ...

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Turn texts into the ids the store keeps."""
        ...

    def batch(self, store: Store, numbers: object, key: tuple[int, ...]) -> Batch:
        """Take examples out of the store; ``key`` names any random choice made on the way."""
        ...

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        """Say what a batch loses."""
        ...

    def measure(
        self, model: nn.Module, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Measured:
        """Score the model on examples; ``quick`` for the many times while training."""
        ...

    def answer(self, model: nn.Module, texts: Sequence[str]) -> list[Answered]:
        """Answer each text."""
        ...
