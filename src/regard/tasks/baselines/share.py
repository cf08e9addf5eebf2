"""The share of the baseline in an ensemble, fitted on held-out texts.

    answer = (1 - share)·(a·network + b) + share·baseline

The network is calibrated by Platt scaling; the baseline already is. Three answers compete: the
baseline's, the calibrated network's, and the best mixture of both. Each of the later ones has to
lower the cross entropy by more than one nat for every number fitted (Akaike 1974), and by more than
one and a half standard errors. So few held-out texts, or a network that adds nothing, leave the
answer to the baseline. AIC alone is too lenient: the network's best checkpoint was chosen on the
same texts, which makes it look better than it is.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from regard.tasks.baselines.calibration import calibrate
from regard.tasks.baselines.logistic_regression import cross_entropies

STEPS = 20  # into which the share is divided
ERRORS = 1.5  # standard errors that are taken for chance
PREFIX = "ensemble."


class Mixture(NamedTuple):
    """How network and baseline are mixed."""

    share: float
    """Of the baseline."""
    scale: float
    """Of the network's logits."""
    biases: Tensor
    texts: int
    """On which it was fitted; 0 if it was set."""

    def mix(self, network: Tensor, baseline: Tensor) -> Tensor:
        """Return the logits of the ensemble."""
        network = self.scale * network + self.biases
        return (1 - self.share) * network + self.share * baseline

    def parameters(self) -> dict[str, Tensor]:
        """Return what is stored."""
        numbers = torch.tensor([self.share, self.scale, float(self.texts)])
        return {f"{PREFIX}mixture": torch.cat([numbers, self.biases])}

    @classmethod
    def load(cls, parameters: Mapping[str, Tensor]) -> "Mixture | None":
        """Return the mixture that was stored, if one was fitted."""
        if f"{PREFIX}mixture" not in parameters:
            return None
        share, scale, texts, *biases = parameters[f"{PREFIX}mixture"].tolist()
        return cls(share, scale, torch.tensor(biases), int(texts))


def fixed_mixture(share: float, columns: int) -> Mixture:
    """Return the mixture of uncalibrated logits with this share of the baseline."""
    return Mixture(share, 1.0, torch.zeros(columns), 0)


def fit_mixture(network: Tensor, baseline: Tensor, targets: Tensor, *, exclusive: bool) -> Mixture:
    """Fit the mixture on held-out texts."""
    found = calibrate(network, targets, exclusive=exclusive)

    def attempt(share: float) -> tuple[Mixture, Tensor]:
        mixture = Mixture(share, found.scale, found.biases, len(targets))
        logits = mixture.mix(network, baseline)
        return mixture, cross_entropies(logits, targets, exclusive=exclusive)

    best, free = attempt(1.0), network.shape[1] + 1
    mixtures = [attempt(step / STEPS) for step in range(1, STEPS)]
    for rival in (attempt(0.0), min(mixtures, key=lambda one: float(one[1].sum()))):
        gains = best[1] - rival[1]
        noise = ERRORS * float(gains.std(correction=0)) * len(gains) ** 0.5
        if float(gains.sum()) > max(free, noise):
            best, free = rival, 1
    return best[0]
