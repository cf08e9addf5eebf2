"""Scores of masked pretraining, and of the unigram baseline."""

import math
from collections.abc import Callable, Sequence
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from regard.tasks.pretraining.objectives import Counts
from regard.tasks.pretraining.rows import Rows
from regard.tasks.task import Examples

MOST_COUNTED = 100_000  # documents
AT_ONCE = 4096


def scores(counts: Counts, objective: str) -> dict[str, float]:
    """Turn counts into scores, the one that selects the best checkpoint first."""
    loss = counts["masked_lost"] / max(1, counts["masked"])
    masked = {
        "masked_accuracy": counts["masked_right"] / max(1, counts["masked"]),
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
    }
    found: dict[str, float] = {}
    if objective == "replaced":
        both = counts["said"] + counts["replaced"]
        right = counts["tokens"] - both + 2 * counts["found"]
        found["replaced_f1"] = 2 * counts["found"] / max(1, both)
        found["replaced_accuracy"] = right / max(1, counts["tokens"])
    found |= masked
    if counts["next"]:
        found["next_accuracy"] = counts["next_right"] / counts["next"]
    if counts["pairs"]:
        found["pair_accuracy"] = counts["pairs_right"] / counts["pairs"]
    return found


def count_frequencies(
    source: Examples,
    encode: Callable[[list[tuple[str, ...]]], list[tuple[list[int], ...]]],
    *,
    tokens: int,
) -> dict[str, Tensor]:
    """Return the relative frequency of each token, with add-one smoothing."""
    counts, documents = torch.ones(tokens), islice(source(), MOST_COUNTED)
    while some := list(islice(documents, AT_ONCE)):
        for row in encode(some):
            counts += torch.bincount(torch.tensor(row[-1]), minlength=tokens)
    return {"frequencies": counts / counts.sum()}


def baseline_scores(
    frequencies: Float[Tensor, " token"], several: Sequence[Rows]
) -> dict[str, float]:
    """Score predictions by token frequency on the same targets."""
    targets = torch.cat([r.targets[r.has_target & ~r.forward_only[:, None]] for r in several])
    loss = float(-frequencies[targets].log().mean())
    right = float((targets == frequencies.argmax()).float().mean())
    return {"masked_accuracy": right, "loss": loss, "perplexity": math.exp(loss)}
