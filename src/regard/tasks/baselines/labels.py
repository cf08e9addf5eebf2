"""The baseline of labelled tasks: the linear model answers as a network does, logit by logit."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines import linear_model
from regard.tasks.baselines.hashed_ngrams import Bags, Ngrams
from regard.tasks.baselines.linear_model import LinearModel
from regard.tasks.baselines.selection import fit_baseline
from regard.tasks.labelling.labels import Labels
from regard.tasks.task import Examples, Texts

MOST_CHARACTERS = 100_000_000  # of training text that is learned from
MOST_SPELLED = 10_000_000  # ... of which n-grams of characters are counted, else of three words

Features = tuple[Bags, NDArray[np.float32]]
"""N-grams of texts, and further numbers."""


Extract = Callable[[Iterable[Texts], Ngrams], Features]
"""Extracts the features of texts."""


def learn(labels: Labels, source: Examples, extract: Extract) -> dict[str, Tensor]:
    """Fit a baseline to the examples, every nth of them where all are too many for memory."""
    size = sum(sum(map(len, example)) for example in source())
    every = max(1, -(-size // MOST_CHARACTERS))

    def some() -> Iterable[Texts]:
        return islice(source(), 0, None, every)

    texts = (example[:-1] for example in some())
    ngrams = Ngrams(2, True) if size <= MOST_SPELLED else Ngrams(3, False)
    bags, numbers = extract(texts, ngrams)
    targets = labels.targets([labels.numbers(example[-1]) for example in some()])
    if _binary(labels):
        targets = targets[:, 1:]
    examples = linear_model.Examples(bags, numbers, targets, ngrams.words)
    return fit_baseline(examples, exclusive=labels.exclusive).parameters()


def logits_of(
    model: LinearModel, labels: Labels, extract: Extract, texts: Iterable[Texts]
) -> Float[Tensor, "text column"]:
    """Return one logit for each label."""
    logits = model.logits(*extract(texts, model.ngrams))
    return torch.cat([-logits / 2, logits / 2], dim=1) if _binary(labels) else logits


def _binary(labels: Labels) -> bool:
    """Of two exclusive labels, the logit of the second is enough."""
    return labels.exclusive and labels.columns == 2
