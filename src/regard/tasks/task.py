"""The task: the one interface between training, inference and what an answer is.

A task knows its fields, how texts become ids, what a batch loses, how a model answers and how its
answers are measured. The loop knows none of it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

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
    examples: int
    samples: list[Sample]

    def as_json(self) -> dict[str, Any]:
        """Return the scores under the names that scripts rely on."""
        return {
            "metrics": {**self.metrics, "baseline": self.baseline},
            "signature": self.signature,
            "count": self.examples,
        }


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
        """Build the model, its parameters drawn from torch's generator."""
        ...

    def begin(self, model: Any, store: Store) -> None:  # noqa: ANN401 - the task's own model
        """Let what the training examples show shape the model before its first step."""
        ...

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Turn texts into the ids the store keeps."""
        ...

    def batch(self, store: Store, numbers: NDArray[np.int64], key: tuple[int, ...]) -> Batch:
        """Take examples out of the store; ``key`` names any random choice made on the way."""
        ...

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Put encoded examples side by side."""
        ...

    def loss(self, model: Any, batch: Batch) -> Loss:  # noqa: ANN401
        """Say what a batch loses."""
        ...

    def states(self, model: Any, batch: Batch) -> Tensor:  # noqa: ANN401
        """Run the model over a batch, for whoever listens to its taps."""
        ...

    def measure(
        self,
        model: Any,  # noqa: ANN401
        examples: Sequence[tuple[str, ...]],
        *,
        quick: bool,
    ) -> Measured:
        """Score the model on examples; ``quick`` for the many times while training."""
        ...

    def answer(
        self,
        model: Any,  # noqa: ANN401
        texts: Sequence[str],
        *,
        quick: bool = False,
        cut: bool = False,
    ) -> list[Answered]:
        """Answer each text; one that is too long is refused, or shortened if ``cut``."""
        ...
