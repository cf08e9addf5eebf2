"""The baseline of labelled tasks: a bag of n-grams that says what a model says, logit by logit."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.bag_of_ngrams import BagOfNgrams
from regard.tasks.baselines.calibration import fit_calibrated
from regard.tasks.baselines.hashed_ngrams import Bags
from regard.tasks.labelling.labels import Labels, Targets
from regard.tasks.task import Examples, Texts

MOST_CHARACTERS = 100_000_000  # of training text that is learned from

Seen = tuple[Bags, NDArray[np.float32] | None]
"""What a bag sees of texts: their n-grams, and further numbers where there are any."""
See = Callable[[Iterable[Texts]], Seen]


def learn(labels: Labels, source: Examples, see: See, *, trust: float) -> dict[str, Tensor]:
    """Fit a bag to the examples, every nth of them where all are too many for memory."""
    every = thinned(source)
    bags, numbers = see(example[:-1] for example in islice(source(), 0, None, every))
    targets = targets_of(labels, source, every)
    if _two(labels):
        targets = targets[:, 1:]
    exclusive = labels.exclusive
    found = fit_calibrated(bags, targets, exclusive=exclusive, trust=trust, numbers=numbers)
    return found.parameters()


def thinned(source: Examples) -> int:
    """Say every how manieth example is learned from."""
    size = sum(sum(map(len, example)) for example in source())
    return max(1, -(-size // MOST_CHARACTERS))


def targets_of(labels: Labels, source: Examples, every: int) -> Targets:
    """Return what is true of every nth example."""
    written = (example[-1] for example in islice(source(), 0, None, every))
    return labels.targets([labels.numbers(one) for one in written])


def logits_of(bag: BagOfNgrams, labels: Labels, seen: Seen) -> Float[Tensor, "text column"]:
    """Return one logit for each label."""
    logits = bag.logits(*seen)
    return torch.cat([-logits / 2, logits / 2], dim=1) if _two(labels) else logits


def _two(labels: Labels) -> bool:
    """Of two labels, what is said of the second says all."""
    return labels.exclusive and labels.columns == 2
