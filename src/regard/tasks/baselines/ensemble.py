"""Who answers beside the network: other networks, a bag of n-grams, remembered labelled texts.

    network  = mean over this run's network and those of runs that are asked with it
    answer   = (1 - share)·network + share·bag + neighbours · what the nearest say
    together = ½·network + ½·bag + neighbours · what the nearest say

The bag is always there, to be compared with; it has a share in the answer where the recipe gives it
one. Labelled texts are remembered only where they are asked, since a run that is passed on takes
them along.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.bag_of_ngrams import BagOfNgrams
from regard.tasks.baselines.knn import Looked, Neighbours
from regard.tasks.baselines.labels import See, learn, logits_of, remember
from regard.tasks.labelling.labels import Labels, Logits, Score
from regard.tasks.task import Examples, Texts

Network = Callable[[Sequence[Texts]], Logits]
"""What another run's network says of texts."""

REMEMBERED = "neighbours."  # what stands before the names of tensors that are not the bag's


class Answers(NamedTuple):
    """What is said of texts, all together and one by one."""

    all: Logits
    """As the recipe wants it."""
    network: Logits
    """What the networks say, all with equal shares."""
    bag: Logits | None
    together: Logits | None
    """Network and bag with equal shares."""
    heard: Logits | None
    """What the nearest labelled texts add."""
    looked: list[Looked]


class Ensemble:
    """A bag, and a memory where the recipe asks for one.

    Args:
        labels: What is told of a text.
        settings: How much each has to say.
        see: What a bag sees of texts.
        trust: How much examples count for the bag against the pull to zero.

    """

    def __init__(
        self, labels: Labels, settings: DecodingSettings, see: See, *, trust: float
    ) -> None:
        self.labels, self.settings, self.see, self.trust = labels, settings, see, trust
        self.bag: BagOfNgrams | None = None
        self.memory: Neighbours | None = None
        self.networks: list[Network] = []
        """Those of other runs that are asked as well."""

    def learn(self, source: Examples) -> dict[str, Tensor]:
        """Fit the bag to examples, and remember them where they are to be asked."""
        found = learn(self.labels, source, self.see, trust=self.trust)
        if self.settings.neighbours:
            kept = remember(self.labels, source)
            found |= {REMEMBERED + name: tensor for name, tensor in kept.items()}
        return found

    def put(self, parameters: Mapping[str, Tensor]) -> None:
        """Take up what was learned before."""
        kept = {name for name in parameters if name.startswith(REMEMBERED)}
        self.bag = BagOfNgrams.load({n: parameters[n] for n in parameters.keys() - kept})
        if kept:
            own = {name.removeprefix(REMEMBERED): parameters[name] for name in kept}
            self.memory = Neighbours.load(own)
        elif self.settings.neighbours:
            raise UsageError(
                f"decoding.neighbours = {self.settings.neighbours:g} asks labelled texts, but this "
                "run was trained with 0 and remembers none.",
                "Train it again with neighbours, or leave them out.",
            )

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
        """Add what other networks, bag and neighbours say to what the network says."""
        said = [network, *(ask(texts) for ask in self.networks)]
        network = torch.stack(said).mean(dim=0)
        share = self.settings.baseline_weight if self.bag else 0.0
        bag = logits_of(self.bag, self.labels, self.see(texts)) if self.bag else None
        heard, looked = self._heard(texts)
        added = 0.0 if heard is None else heard
        return Answers(
            network + added if bag is None else (1 - share) * network + share * bag + added,
            network,
            bag,
            None if bag is None else (network + bag) / 2 + added,
            heard,
            looked,
        )

    def voices(self, own: Logits, answers: Answers) -> dict[str, Logits]:
        """Return what each says alone: the run's ``own`` network, all networks, neighbours.

        Nothing where that network alone answers.
        """
        every = {"network": own}
        if self.networks:
            every["networks"] = answers.network
        if answers.heard is not None:
            every["neighbours"] = answers.heard
        joined = len(every) > 1 or (self.bag is not None and self.settings.baseline_weight > 0)
        return every if joined else {}

    def _heard(self, texts: Sequence[Texts]) -> tuple[Logits | None, list[Looked]]:
        if self.memory is None or not self.settings.neighbours:
            return None, [[] for _ in texts]
        said, looked = self.memory.ask([" ".join(text) for text in texts])
        return self.settings.neighbours * said, looked

    def shown(self, looked: Looked) -> tuple[dict[str, Any], ...]:
        """Tell which labelled texts were looked at, as JSON has it."""
        if not looked:
            return ()
        told = self.labels.tell(torch.tensor([one.votes for one in looked]))
        return tuple(
            {"example": one.example, "near": round(one.near, 4), "label": label.text}
            for one, label in zip(looked, told, strict=True)
        )


def _in_words(labels: Labels) -> str:
    """Say what the columns of logits are."""
    if isinstance(labels, Score):
        return f"scores from {labels.low:g} to {labels.high:g}"
    names = ", ".join(labels.names)
    return names if labels.exclusive else f"any of {names}"
