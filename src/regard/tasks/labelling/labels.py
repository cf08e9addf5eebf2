"""Kinds of labels: one of several classes, any number of labels, or a score.

Each kind defines the number of logits, their loss, the prediction and the metrics.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from regard.recipe.data import DataSettings
from regard.tasks.labelling.metrics import (
    by_label,
    confusion,
    number_scores,
    one_label_scores,
    several_label_scores,
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


class SeveralLabels(Labels):
    """p(label) = σ(logit), each for itself.

    Args:
        names: One for each logit.
        separator: What stands between the labels of one text.

    """

    metric = "micro_f1"
    signature = {  # noqa: RUF012
        "micro_f1": "labels of probability over 1/2, counted over all labels",
        "accuracy": "share of texts with exactly the true labels",
    }

    def __init__(self, names: Sequence[str], separator: str) -> None:
        super().__init__(names)
        self.separator = separator

    def numbers(self, written: str) -> list[int]:
        return sorted({self.names.index(one) for one in split(written, self.separator)})

    def targets(self, numbers: Sequence[Sequence[int]]) -> Targets:
        targets = torch.zeros(len(numbers), self.columns)
        for row, own in zip(targets, numbers, strict=True):
            row[list(map(int, own))] = 1.0
        return targets

    def lost(self, logits: Logits, targets: Targets, *, smoothing: float) -> Float[Tensor, " text"]:
        return _each_lost(logits, (1 - smoothing) * targets + smoothing / 2)

    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        return consistency(_with_rest(first), _with_rest(second))

    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        """Rare labels have a higher weight; that of a text is the mean over its labels."""
        each = 1 / (shares * self.columns / shares.sum()).clamp(min=1e-9)
        return (targets * each).sum(dim=1) / targets.sum(dim=1).clamp(min=1)

    def predict(self, logits: Logits) -> list[PredictedLabel]:
        found = []
        for row in logits:
            said = [name for name, logit in zip(self.names, row.tolist(), strict=True) if logit > 0]
            sure = float(row.abs().neg().exp().log1p().neg().sum())
            every = dict(zip(self.names, row.sigmoid().tolist(), strict=True))
            found.append(PredictedLabel(self.separator.join(said), sure, every))
        return found

    def right(self, said: str, written: str) -> float | None:
        return float(self.numbers(said) == self.numbers(written))

    def score(self, logits: Logits, written: Sequence[str]) -> dict[str, float]:
        return several_label_scores(logits, self._true(written).bool())

    def details(self, logits: Logits, written: Sequence[str]) -> dict[str, Any]:
        return by_label(logits > 0, self._true(written).bool(), self.names)


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
        return _each_lost(logits, targets)

    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        return consistency(_with_rest(first), _with_rest(second))

    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        return targets.new_ones(len(targets))

    def predict(self, logits: Logits) -> list[PredictedLabel]:
        return [PredictedLabel(f"{score:.3f}", 0.0, {}) for score in self._scores(logits)]

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


def labels_from_recipe(data: DataSettings) -> Labels:
    """Return the labels of complete settings."""
    if data.scores:
        assert data.score_range is not None
        return Score(*data.score_range)
    if data.label_separator:
        return SeveralLabels(data.labels, data.label_separator)
    return OneLabel(data.labels)


def split(written: str, separator: str) -> list[str]:
    """Split a field into its labels."""
    parts = written.split(separator) if separator else [written]
    return [part.strip() for part in parts if part.strip()]


def _each_lost(logits: Tensor, targets: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(dim=1)


def _with_rest(logits: Tensor) -> Tensor:
    """Turn every logit into two classes: the label and its absence."""
    return torch.stack([logits.flatten(), torch.zeros_like(logits).flatten()], dim=1)
