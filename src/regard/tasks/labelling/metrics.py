"""Metrics of labels and scores.

    accuracy   share of texts whose answer is right (of several labels: exactly all of them)
    F1(label)  2·right / (2·right + wrongly said + wrongly not said); macro: mean over labels,
               micro: the same with the counts of all labels added up
    MAP        mean over labels of average precision: texts ranked by the probability of the label,
               Σ over ranks of (recall gained) · precision; texts of one probability share a rank
    ECE        Σ over 15 equal bins of confidence:  share in bin · |accuracy - mean confidence|
    pearson    correlation of the numbers; spearman: of their ranks, ties given their mean rank

A label that is neither true nor predicted has F1 = 0, as in scikit-learn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

BINS = 15


def one_label_scores(
    log_probabilities: Float[Tensor, "text label"], true: Int[Tensor, " text"]
) -> dict[str, float]:
    """Score texts that have one label each."""
    said = log_probabilities.argmax(dim=1)
    labels = log_probabilities.shape[1]
    hot_said, hot_true = (torch.nn.functional.one_hot(one, labels).bool() for one in (said, true))
    confidence = log_probabilities.amax(dim=1).exp()
    return {
        "accuracy": float((said == true).double().mean()),
        "macro_f1": float(f1(hot_said, hot_true).mean()),
        "ece": calibration_error(confidence, said == true),
        "loss": -float(log_probabilities.double().gather(1, true[:, None]).mean()),
    }


def several_label_scores(
    logits: Float[Tensor, "text label"],
    said: Bool[Tensor, "text label"],
    true: Bool[Tensor, "text label"],
) -> dict[str, float]:
    """Score texts that have any number of labels each; ``said`` are those answered."""
    lost = torch.nn.functional.binary_cross_entropy_with_logits(
        logits.double(), true.double(), reduction="none"
    )
    everything = f1(said.reshape(-1, 1), true.reshape(-1, 1))
    confidence = logits.abs().sigmoid()
    return {
        "micro_f1": float(everything),
        "macro_f1": float(f1(said, true).mean()),
        "subset_accuracy": float((said == true).all(dim=1).double().mean()),
        "map": mean_average_precision(logits, true),
        "ece": calibration_error(confidence.flatten(), ((logits > 0) == true).flatten()),
        "loss": float(lost.sum(dim=1).mean()),
    }


def mean_average_precision(
    logits: Float[Tensor, "text label"], true: Bool[Tensor, "text label"]
) -> float:
    """Average precision, the mean over the labels that any text has; 0 if there is none."""
    each = [
        _average_precision(scores.numpy(), hits.numpy())
        for scores, hits in zip(logits.T, true.T, strict=True)
        if hits.any()
    ]
    return float(np.mean(each)) if each else 0.0


def _average_precision(scores: NDArray[Any], true: NDArray[np.bool_]) -> float:
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # the last of each rank
    right = true[order].cumsum()[ends]
    return float((np.diff(right, prepend=0) * right / (ends + 1)).sum() / right[-1])


def number_scores(said: Sequence[float], true: Sequence[float]) -> dict[str, float]:
    """Score predicted numbers."""
    mine, theirs = np.asarray(said, dtype=float), np.asarray(true, dtype=float)
    return {
        "spearman": pearson(ranks(mine), ranks(theirs)),
        "pearson": pearson(mine, theirs),
    }


def f1(
    said: Bool[Tensor, "text label"], true: Bool[Tensor, "text label"]
) -> Float[Tensor, " label"]:
    """Harmonic mean of precision and recall, label by label."""
    right = (said & true).sum(dim=0).double()
    return 2 * right / (said.sum(dim=0) + true.sum(dim=0)).clamp(min=1)


def calibration_error(
    confidence: Float[Tensor, " answer"], right: Bool[Tensor, " answer"]
) -> float:
    """How far confidence is from the share of right answers (ECE; Guo et al. 2017)."""
    bins = (confidence * BINS).long().clamp(max=BINS - 1)
    gap = right.double() - confidence.double()
    sums = torch.zeros(BINS, dtype=torch.double).index_add_(0, bins, gap)
    return float(sums.abs().sum() / len(confidence))


def confusion(
    said: Int[Tensor, " text"], true: Int[Tensor, " text"], labels: Sequence[str]
) -> dict[str, Any]:
    """Count answers by true label (rows) and answered label (columns), and score each label."""
    count = len(labels)
    cells = torch.bincount(true * count + said, minlength=count * count).reshape(count, count)
    hot_said, hot_true = (torch.nn.functional.one_hot(one, count).bool() for one in (said, true))
    return {"confusion": cells.tolist(), **by_label(hot_said, hot_true, labels)}


def by_label(
    said: Bool[Tensor, "text label"], true: Bool[Tensor, "text label"], labels: Sequence[str]
) -> dict[str, Any]:
    """Precision, recall, F1 and number of texts of each label."""
    right = (said & true).sum(dim=0)
    precision = right / said.sum(dim=0).clamp(min=1)
    recall = right / true.sum(dim=0).clamp(min=1)
    columns = zip(precision, recall, f1(said, true), true.sum(dim=0), strict=True)
    names = ("precision", "recall", "f1", "support")
    scores = {
        label: dict(zip(names, (float(p), float(r), float(f), int(n)), strict=True))
        for label, (p, r, f, n) in zip(labels, columns, strict=True)
    }
    return {"labels": list(labels), "by_label": scores}


def pearson(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the correlation; 0 where one side never changes."""
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank numbers from 1, equal ones by the mean of the ranks they share."""
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[places]
