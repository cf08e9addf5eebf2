"""The baseline of labelled tasks: a bag of n-grams that says what a model says, logit by logit."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.labelling.bag_of_ngrams import BagOfNgrams, fit
from regard.tasks.labelling.labels import Labels
from regard.tasks.labelling.word_bags import Bags
from regard.tasks.task import Examples, Texts

MOST_CHARACTERS = 100_000_000  # of training text that is learned from

Seen = tuple[Bags, NDArray[np.float32] | None]
"""What a bag sees of texts: their n-grams, and further numbers where there are any."""
See = Callable[[Iterable[Texts]], Seen]


def learn(labels: Labels, source: Examples, see: See, *, trust: float) -> dict[str, Tensor]:
    """Fit a bag to the examples, every nth of them where all are too many for memory."""
    size = sum(sum(map(len, example)) for example in source())
    every = -(-size // MOST_CHARACTERS)
    written = [example[-1] for example in islice(source(), 0, None, every)]
    bags, numbers = see(example[:-1] for example in islice(source(), 0, None, every))
    targets = labels.targets([labels.numbers(one) for one in written])
    if _two(labels):
        targets = targets[:, 1:]
    found = fit(bags, targets, exclusive=labels.exclusive, numbers=numbers, trust=trust)
    return found.parameters()


def logits_of(bag: BagOfNgrams, labels: Labels, seen: Seen) -> Float[Tensor, "text column"]:
    """Return one logit for each label."""
    logits = bag.logits(*seen)
    return torch.cat([-logits / 2, logits / 2], dim=1) if _two(labels) else logits


def _two(labels: Labels) -> bool:
    """Of two labels, what is said of the second says all."""
    return labels.exclusive and labels.columns == 2
