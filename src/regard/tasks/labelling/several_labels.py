"""Any number of labels of one text: each has a probability and a threshold of its own."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from regard.tasks.labelling.labels import (
    Labels,
    Logits,
    PredictedLabel,
    Targets,
    add_absence,
    compute_binary_losses,
    split,
)
from regard.tasks.labelling.metrics import by_label, several_label_scores
from regard.tasks.labelling.thresholds import EVEN, fit_thresholds
from regard.tasks.losses import consistency


class SeveralLabels(Labels):
    """p(label) = σ(logit), each for itself; those over their thresholds are answered.

    Args:
        names: One for each logit.
        separator: Separates the labels of one text.
        thresholds: Of the probability of each label; 1/2 if left out.

    """

    metric = "micro_f1"

    def __init__(
        self, names: Sequence[str], separator: str, thresholds: Tensor | None = None
    ) -> None:
        super().__init__(names)
        self.separator = separator
        even = torch.full((len(self.names),), EVEN)
        self.thresholds = even if thresholds is None else thresholds
        low, high = float(self.thresholds.min()), float(self.thresholds.max())
        over = f"{low:.2f}" if low == high else f"thresholds from {low:.2f} to {high:.2f}"
        self.signature = {
            "micro_f1": f"labels of probability over {over}, counted over all labels",
            "subset_accuracy": "share of texts with exactly the true labels",
            "map": "mean over labels of average precision, which needs no threshold",
        }

    def numbers(self, written: str) -> list[int]:
        return sorted({self.names.index(one) for one in split(written, self.separator)})

    def targets(self, numbers: Sequence[Sequence[int]]) -> Targets:
        targets = torch.zeros(len(numbers), self.columns)
        for row, own in zip(targets, numbers, strict=True):
            row[list(map(int, own))] = 1.0
        return targets

    def lost(self, logits: Logits, targets: Targets, *, smoothing: float) -> Float[Tensor, " text"]:
        return compute_binary_losses(logits, (1 - smoothing) * targets + smoothing / 2)

    def divergence(self, first: Logits, second: Logits) -> Float[Tensor, ""]:
        return consistency(add_absence(first), add_absence(second))

    def weights(self, targets: Targets, shares: Float[Tensor, " column"]) -> Float[Tensor, " text"]:
        """Rare labels have a higher weight; that of a text is the mean over its labels."""
        each = 1 / (shares * self.columns / shares.sum()).clamp(min=1e-9)
        found = (targets * each).sum(dim=1) / targets.sum(dim=1).clamp(min=1)
        return torch.where(targets.any(dim=1), found, 1.0)

    def fit_thresholds(self, logits: Logits, written: Sequence[str]) -> Tensor | None:
        return fit_thresholds(logits.sigmoid(), self._true(written))

    def with_thresholds(self, thresholds: Tensor) -> "Labels":
        return type(self)(self.names, self.separator, thresholds)

    def predict(self, logits: Logits) -> list[PredictedLabel]:
        found = []
        for row, answered in zip(logits, self._answered(logits), strict=True):
            said = tuple(name for name, one in zip(self.names, answered, strict=True) if one)
            sure = float(logsigmoid(torch.where(answered, row, -row)).sum())
            every = dict(zip(self.names, row.sigmoid().tolist(), strict=True))
            found.append(PredictedLabel(self.separator.join(said), sure, every, said))
        return found

    def right(self, said: str, written: str) -> float | None:
        return float(self.numbers(said) == self.numbers(written))

    def score(self, logits: Logits, written: Sequence[str]) -> dict[str, float]:
        return several_label_scores(logits, self._answered(logits), self._true(written).bool())

    def details(self, logits: Logits, written: Sequence[str]) -> dict[str, Any]:
        """Return the scores of each label with its threshold, and how many texts have no label."""
        answered, true = self._answered(logits), self._true(written).bool()
        found = by_label(answered, true, self.names)
        for score, threshold in zip(
            found["by_label"].values(), self.thresholds.tolist(), strict=True
        ):
            score["threshold"] = round(threshold, 4)
        empty = {"answered": answered, "true": true}
        return {
            **found,
            "no_label": {who: int((~one.any(dim=1)).sum()) for who, one in empty.items()},
        }

    def _answered(self, logits: Logits) -> Bool[Tensor, "text column"]:
        return logits.sigmoid() > self.thresholds
