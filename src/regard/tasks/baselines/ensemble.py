"""An ensemble: this run's network, those of other runs, and a bag of n-grams.

    network  = mean over the logits of this run's network and those of the other runs
    answer   = (1 - share)·network + share·bag          share = decoding.baseline_weight
    together = ½·network + ½·bag

The bag is always there, to be compared with; it has a share in the answer where the recipe gives it
one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.labels import Extract, learn, logits_of
from regard.tasks.baselines.linear_model import LinearModel
from regard.tasks.labelling.labels import Labels, Logits, Score
from regard.tasks.task import Examples, Texts

Network = Callable[[Sequence[Texts]], Logits]
"""What another run's network says of texts."""

REMOVED = "neighbours."
"""What the names of tensors begin with that runs before 0.1.0 kept and nothing reads any more."""


class Answers(NamedTuple):
    """What is said of texts, all together and one by one."""

    all: Logits
    """As the recipe wants it."""
    network: Logits
    """What the networks say, all with equal shares."""
    bag: Logits | None
    together: Logits | None
    """Network and bag with equal shares."""


class Ensemble:
    """A bag, and the networks of other runs.

    Args:
        labels: What is told of a text.
        settings: How much each has to say.
        extract: Extracts the features of texts for the bag.

    """

    def __init__(self, labels: Labels, settings: DecodingSettings, extract: Extract) -> None:
        self.labels, self.settings, self.extract = labels, settings, extract
        self.bag: LinearModel | None = None
        self.networks: list[Network] = []
        """Those of other runs that are asked as well."""

    def learn(self, source: Examples) -> dict[str, Tensor]:
        """Fit the bag to examples."""
        return learn(self.labels, source, self.extract)

    def put(self, parameters: Mapping[str, Tensor]) -> None:
        """Take up what was learned before."""
        own = {n: tensor for n, tensor in parameters.items() if not n.startswith(REMOVED)}
        self.bag = LinearModel.load(own)

    def ask_also(self, network: Network, labels: Labels) -> None:
        """Let another network answer as well; it must tell the same ``labels``."""
        mine, theirs = _in_words(self.labels), _in_words(labels)
        if mine != theirs:
            raise UsageError(
                f"runs that answer together must tell the same labels. Got {mine} and {theirs}.",
                "Name a run that was trained on the same labels.",
            )
        self.networks.append(network)

    def join(self, network: Logits, texts: Sequence[Texts]) -> Answers:
        """Add what other networks and the bag say to what the network says."""
        said = [network, *(ask(texts) for ask in self.networks)]
        network = torch.stack(said).mean(dim=0)
        share = self.settings.baseline_weight if self.bag else 0.0
        bag = self.baseline_logits(texts)
        return Answers(
            network if bag is None else (1 - share) * network + share * bag,
            network,
            bag,
            None if bag is None else (network + bag) / 2,
        )

    def baseline_logits(self, texts: Sequence[Texts]) -> Logits | None:
        """Return the baseline's logits, where there is one."""
        return logits_of(self.bag, self.labels, self.extract, texts) if self.bag else None

    def voices(self, own: Logits, answers: Answers) -> dict[str, Logits]:
        """Return what each says alone: the run's ``own`` network and the mean of all networks.

        Nothing where that network alone answers.
        """
        every = {"network": own}
        if self.networks:
            every["networks"] = answers.network
        joined = len(every) > 1 or (self.bag is not None and self.settings.baseline_weight > 0)
        return every if joined else {}


def _in_words(labels: Labels) -> str:
    """Say what the columns of logits are."""
    if isinstance(labels, Score):
        return f"scores from {labels.low:g} to {labels.high:g}"
    names = ", ".join(labels.names)
    return names if labels.exclusive else f"any of {names}"
