"""Which words tell labels apart, and so are worth asking for.

    r(w, y)  = log [ (1 + n(w, y)) / Σ… ] - log [ (1 + n(w, ¬y)) / Σ… ]     n: texts that hold w
    worth(w) = max over y of (|r| - deviation) / ½, between 0.02 and 1

The deviation of r, √(1/(1 + n(w, y)) + 1/(1 + n(w, ¬y))), is taken off, so that a word which few
texts hold must lean further before it is believed.
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

ENOUGH = 0.5  # a word that leans as far is always worth asking for
LEAST = 0.02  # ... and one that does not lean, every fiftieth time

Worth = Float[Tensor, " token"]


def worth_asking(
    texts: Iterable[Sequence[int]],
    labels: Iterable[Sequence[str]],
    *,
    size: int,
) -> Worth:
    """Say how much each of ``size`` tokens is worth, by texts of which each has some labels."""
    held: dict[str, Tensor] = {}
    every = torch.zeros(size)
    for ids, names in zip(texts, labels, strict=True):
        distinct = torch.tensor(sorted(set(ids)), dtype=torch.long)
        every[distinct] += 1
        for name in set(names):
            held.setdefault(name, torch.zeros(size))[distinct] += 1
    worth = torch.zeros(size)
    for with_label in held.values():
        worth = torch.maximum(worth, _leaning(1 + with_label, 1 + every - with_label))
    return (worth / ENOUGH).clamp(LEAST, 1.0)


def _leaning(true: Tensor, false: Tensor) -> Tensor:
    ratio = (true / true.sum()).log() - (false / false.sum()).log()
    return ratio.abs() - (1 / true + 1 / false).sqrt()
