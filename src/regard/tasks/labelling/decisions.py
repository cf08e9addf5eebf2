"""Decisions: the labels of each member of an ensemble, with thresholds of its own.

Thresholds are chosen for the answers of the run, and in the same way for the network alone, the
baseline, and both together, so that their scores can be compared.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.ensemble import Answers
from regard.tasks.baselines.share import PREFIX
from regard.tasks.labelling.labels import Labels, Logits

THRESHOLDS = f"{PREFIX}thresholds."
_SHARES: dict[float | str, str] = {0.0: "network", 0.5: "together", 1.0: "baseline"}
"""Who answers, by the weight of the baseline."""


class Decisions:
    """Labels with the thresholds that were chosen or set.

    Args:
        labels: The labels, with thresholds of 1/2 if they have some.
        settings: The threshold of every label, if it was set, and which member answers.

    """

    def __init__(self, labels: Labels, settings: DecodingSettings) -> None:
        self._plain, self._threshold = labels, settings.threshold
        self._answers = _SHARES.get(settings.baseline_weight, "answer")
        self._fitted: dict[str, Labels] = {}
        if self._threshold != "fitted":
            set_by_hand = torch.full((labels.columns,), float(self._threshold))
            self._plain = labels.with_thresholds(set_by_hand)

    def labels(self, member: str = "") -> Labels:
        """Return the labels of a member; of the one that answers, if it is unknown."""
        answer = self._fitted.get(self._answers, self._plain)
        return self._fitted.get(member, answer)

    def score(self, member: str, logits: Logits | None, written: Sequence[str]) -> dict[str, float]:
        """Score what a member says; nothing if there is no such member."""
        return {} if logits is None else self.labels(member).score(logits, written)

    def put(self, parameters: Mapping[str, Tensor]) -> None:
        """Load what was stored."""
        if self._threshold == "fitted":
            self._fitted = {
                name.removeprefix(THRESHOLDS): self._plain.with_thresholds(found)
                for name, found in parameters.items()
                if name.startswith(THRESHOLDS)
            }

    def fit(self, network: Logits, answers: Answers, written: Sequence[str]) -> dict[str, Tensor]:
        """Choose thresholds on held-out texts; return what to store."""
        if self._threshold != "fitted" or not written:
            return {}
        members = {
            "answer": answers.all,
            "network": network,
            "baseline": answers.bag,
            "together": answers.together,
        }
        found = {
            f"{THRESHOLDS}{name}": self._plain.fit_thresholds(logits, written)
            for name, logits in members.items()
            if logits is not None
        }
        stored = {name: one for name, one in found.items() if one is not None}
        self.put(stored)
        return stored
