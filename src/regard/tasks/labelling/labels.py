"""Kinds of labels: one of several classes, or a score; ``several_labels`` has the third.

Each kind defines the number of logits, their loss, the prediction and the metrics.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from regard.tasks.labelling.metrics import (
    confusion,
    number_scores,
    one_label_scores,
)
from regard.tasks.losses import consistency

STEPS = 1_000_000  # resolution of a score in the store

Logits = Float[Tensor, "text column"]
Targets = Float[Tensor, "text column"]
"""Target of each column, from 0 to 1."""


class PredictedLabel(NamedTuple):
    """A predicted label."""

    text: str
    log_probability: float
    probabilities: dict[str, float]
    labels: tuple[str, ...] | None = None
    """Where there may be several."""
    score: float | None = None


class Labels(ABC):
    """The labels of a task.

    Args:
        names: One for each logit.

    """

    metric: str
    signature: dict[str, str]
    exclusive = False
    """Whether the columns compete for one probability."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    @property
    def columns(self) -> int:
        """How many logits a model gives."""
        return len(self.names)

    @abstractmethod
    def numbers(self, written: str) -> list[int]:
        """Encode a label of the data as numbers for the store."""

    @abstractmethod
    def targets(self, numbers: Sequence[Sequence[int]]) -> Targets:
        """Return the targets of stored numbers."""

    @abstractmethod
    def lost(self, logits: Logits, targets: Targets, *, smoothing: float) -> Float[Tensor, " text"]:
        """Compute the cross entropy of each text."""

    @abstractmethod
    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        """Compute the divergence of two forward passes (R-Drop)."""

    @abstractmethod
    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        """Return class-balanced weights of texts, 1 on average."""

    @abstractmethod
    def predict(self, logits: Logits) -> list[PredictedLabel]:
        """Convert logits to predictions."""

    @abstractmethod
    def score(self, logits: Logits, written: Sequence[str]) -> dict[str, float]:
        """Score predictions against the labels of the data."""

    @abstractmethod
    def details(self, logits: Logits, written: Sequence[str]) -> dict[str, Any]:
        """Return further results, such as a confusion matrix."""

    def fit_thresholds(self, logits: Logits, written: Sequence[str]) -> Tensor | None:
        """Choose a threshold for each label on held-out texts; None if labels need none."""
        return None

    def with_thresholds(self, thresholds: Tensor) -> "Labels":
        """Return the labels with other thresholds."""
        return self

    @abstractmethod
    def right(self, said: str, written: str) -> float | None:
        """Return 1 for a correct prediction, 0 for a wrong one, None for a score."""

    def _true(self, written: Sequence[str]) -> Targets:
        return self.targets([self.numbers(one) for one in written])


class OneLabel(Labels):
    """p(label) = softmax(logits)."""

    metric = "accuracy"
    signature = {  # noqa: RUF012 - never written to
        "accuracy": "share of texts whose likeliest label is the true one",
        "ece": "15 equal bins of the likeliest label's probability",
    }
    exclusive = True

    def numbers(self, written: str) -> list[int]:
        return [self.names.index(written.strip())]

    def targets(self, numbers: Sequence[Sequence[int]]) -> Targets:
        return one_hot(torch.tensor([own[0] for own in numbers]), self.columns).float()

    def lost(self, logits: Logits, targets: Targets, *, smoothing: float) -> Float[Tensor, " text"]:
        wanted = (1 - smoothing) * targets + smoothing / self.columns
        return -(wanted * logits.log_softmax(dim=1)).sum(dim=1)

    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        return consistency(first, second)

    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        return (targets / (shares * self.columns).clamp(min=1e-9)).sum(dim=1)

    def predict(self, logits: Logits) -> list[PredictedLabel]:
        found = []
        for row in logits.log_softmax(dim=1):
            best = int(row.argmax())
            every = dict(zip(self.names, row.exp().tolist(), strict=True))
            found.append(PredictedLabel(self.names[best], float(row[best]), every))
        return found

    def right(self, said: str, written: str) -> float | None:
        return float(said == written.strip())

    def score(self, logits: Logits, written: Sequence[str]) -> dict[str, float]:
        return one_label_scores(logits.log_softmax(dim=1), self._true(written).argmax(dim=1))

    def details(self, logits: Logits, written: Sequence[str]) -> dict[str, Any]:
        true = self._true(written).argmax(dim=1)
        return confusion(logits.argmax(dim=1), true, self.names)


class Score(Labels):
    """score = low + (high - low)·σ(logit), learned by the cross entropy of its share of the range.

    Args:
        low: The lowest score there is.
        high: The highest.

    """

    metric = "spearman"
    signature = {  # noqa: RUF012
        "spearman": "correlation of ranks, ties at their mean rank",
        "pearson": "correlation of the scores themselves",
    }

    def __init__(self, low: float, high: float) -> None:
        super().__init__(("score",))
        self.low, self.high = low, high

    def numbers(self, written: str) -> list[int]:
        share = (float(written) - self.low) / (self.high - self.low)
        return [round(STEPS * min(1.0, max(0.0, share)))]

    def targets(self, numbers: Sequence[Sequence[int]]) -> Targets:
        return torch.tensor([[int(own[0]) / STEPS] for own in numbers])

    def lost(self, logits: Logits, targets: Targets, *, smoothing: float) -> Float[Tensor, " text"]:
        return compute_binary_losses(logits, targets)

    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        return consistency(add_absence(first), add_absence(second))

    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        return targets.new_ones(len(targets))

    def predict(self, logits: Logits) -> list[PredictedLabel]:
        return [
            PredictedLabel(f"{score:.3f}", 0.0, {}, score=score) for score in self._scores(logits)
        ]

    def right(self, said: str, written: str) -> float | None:
        return None

    def score(self, logits: Logits, written: Sequence[str]) -> dict[str, float]:
        lost = float(self.lost(logits, self._true(written), smoothing=0.0).mean())
        scores = number_scores(self._scores(logits), [float(one) for one in written])
        return {**scores, "loss": lost}

    def details(self, logits: Logits, written: Sequence[str]) -> dict[str, Any]:
        return {"range": [self.low, self.high]}

    def _scores(self, logits: Logits) -> list[float]:
        return (self.low + (self.high - self.low) * logits[:, 0].double().sigmoid()).tolist()


def split(written: str, separator: str) -> list[str]:
    """Split a field into its labels."""
    parts = written.split(separator) if separator else [written]
    return [part.strip() for part in parts if part.strip()]


def compute_binary_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Sum the cross entropies of each text's labels."""
    return binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(dim=1)


def add_absence(logits: Tensor) -> Tensor:
    """Turn every logit into two classes: the label and its absence."""
    return torch.stack([logits.flatten(), torch.zeros_like(logits).flatten()], dim=1)
