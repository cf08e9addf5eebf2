"""An ensemble: this run's network, those of other runs, and the n-gram baseline.

    network  = mean over the logits of this run's network and those of the other runs
    answer   = (1 - share)·network + share·baseline     share = decoding.baseline_weight
    together = ½·network + ½·baseline

With the weight "fitted", the share was fitted when training ended (``share.py``). The baseline is
always scored, whatever its share.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.labels import Extract, learn, logits_of
from regard.tasks.baselines.linear_model import LinearModel
from regard.tasks.baselines.share import PREFIX, Mixture, fit_mixture, fixed_mixture
from regard.tasks.labelling.labels import Labels, Logits, Score
from regard.tasks.task import Examples, Texts

Network = Callable[[Sequence[Texts]], Logits]
"""The logits of another run's network."""

REMOVED = "neighbours."
"""Prefix of tensors that runs before 0.1.0 stored and that are ignored now."""


class Answers(NamedTuple):
    """Logits of the ensemble and of its members."""

    all: Logits
    """Of the ensemble, as [decoding] says."""
    network: Logits
    """The mean over networks."""
    bag: Logits | None
    together: Logits | None
    """Network and bag with equal shares."""


class Ensemble:
    """The baseline, and the networks of other runs.

    Args:
        labels: What is predicted.
        settings: The weight of the baseline.
        extract: Extracts the features of texts for the baseline.

    """

    def __init__(self, labels: Labels, settings: DecodingSettings, extract: Extract) -> None:
        self.labels, self.settings, self.extract = labels, settings, extract
        self.bag: LinearModel | None = None
        self.fitted: Mixture | None = None
        self.networks: list[Network] = []
        """Those of other runs."""

    def learn(self, source: Examples) -> dict[str, Tensor]:
        """Fit the baseline to examples."""
        return learn(self.labels, source, self.extract)

    def put(self, parameters: Mapping[str, Tensor]) -> None:
        """Load what was stored."""
        others = (REMOVED, PREFIX)
        own = {n: tensor for n, tensor in parameters.items() if not n.startswith(others)}
        self.bag, self.fitted = LinearModel.load(own), Mixture.load(parameters)

    def fit(
        self, network: Logits, texts: Sequence[Texts], written: Sequence[str]
    ) -> dict[str, Tensor]:
        """Fit the share of the baseline on held-out texts, if it is to be fitted."""
        baseline = self.baseline_logits(texts)
        if self.settings.baseline_weight != "fitted" or baseline is None or not texts:
            return {}
        targets = self.labels.targets([self.labels.numbers(one) for one in written])
        exclusive = self.labels.exclusive
        self.fitted = fit_mixture(network, baseline, targets, exclusive=exclusive)
        return self.fitted.parameters()

    @property
    def mixture(self) -> Mixture:
        """How network and baseline are mixed."""
        weight, columns = self.settings.baseline_weight, self.labels.columns
        if self.bag is None:
            return fixed_mixture(0.0, columns)
        if weight != "fitted":
            return fixed_mixture(float(weight), columns)
        return self.fitted or fixed_mixture(0.0, columns)

    def ask_also(self, network: Network, labels: Labels) -> None:
        """Add another run's network; it must have the same ``labels``."""
        mine, theirs = _in_words(self.labels), _in_words(labels)
        if mine != theirs:
            raise UsageError(
                f"the runs of an ensemble must have the same labels. Got {mine} and {theirs}.",
                "Name a run that was trained on the same labels.",
            )
        self.networks.append(network)

    def join(self, network: Logits, texts: Sequence[Texts]) -> Answers:
        """Combine the network's logits with those of other networks and of the baseline."""
        networks = [network, *(ask(texts) for ask in self.networks)]
        network, bag = torch.stack(networks).mean(dim=0), self.baseline_logits(texts)
        if bag is None:
            return Answers(network, network, None, None)
        return Answers(self.mixture.mix(network, bag), network, bag, (network + bag) / 2)

    def baseline_logits(self, texts: Sequence[Texts]) -> Logits | None:
        """Return the baseline's logits, where there is one."""
        return logits_of(self.bag, self.labels, self.extract, texts) if self.bag else None

    def voices(self, own: Logits, answers: Answers) -> dict[str, Logits]:
        """Return the logits of the run's ``own`` network and of the mean of all networks.

        Empty if that network alone answers.
        """
        every = {"network": own}
        if self.networks:
            every["networks"] = answers.network
        return every if len(every) > 1 or self.mixture.share > 0 or self.fitted else {}


def _in_words(labels: Labels) -> str:
    """Describe the columns of logits."""
    if isinstance(labels, Score):
        return f"scores from {labels.low:g} to {labels.high:g}"
    names = ", ".join(labels.names)
    return names if labels.exclusive else f"any of {names}"
