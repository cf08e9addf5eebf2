"""How well pretraining goes, beside baselines that only count."""

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
    """Turn counts into scores, the one that chooses the best model first."""
    loss = counts["masked_lost"] / max(1, counts["masked"])
    masked = {
        "masked_accuracy": counts["masked_right"] / max(1, counts["masked"]),
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
    }
    told: dict[str, float] = {}
    if objective == "replaced":
        both = counts["said"] + counts["replaced"]
        right = counts["tokens"] - both + 2 * counts["found"]
        told["replaced_f1"] = 2 * counts["found"] / max(1, both)
        told["replaced_accuracy"] = right / max(1, counts["tokens"])
    told |= masked
    if counts["next"]:
        told["next_accuracy"] = counts["next_right"] / counts["next"]
    if counts["pairs"]:
        told["pair_accuracy"] = counts["pairs_right"] / counts["pairs"]
    return told


def learn_frequencies(
    source: Examples,
    encode: Callable[[list[tuple[str, ...]]], list[tuple[list[int], ...]]],
    *,
    tokens: int,
) -> dict[str, Tensor]:
    """Count how often each token is written, with one more for each."""
    counts, documents = torch.ones(tokens), islice(source(), MOST_COUNTED)
    while some := list(islice(documents, AT_ONCE)):
        for row in encode(some):
            counts += torch.bincount(torch.tensor(row[-1]), minlength=tokens)
    return {"frequencies": counts / counts.sum()}


def baseline_scores(
    frequencies: Float[Tensor, " token"], several: Sequence[Rows]
) -> dict[str, float]:
    """Say what always guessing by frequency scores at the same places."""
    targets = torch.cat([r.targets[r.has_target & ~r.forward_only[:, None]] for r in several])
    loss = float(-frequencies[targets].log().mean())
    right = float((targets == frequencies.argmax()).float().mean())
    return {"masked_accuracy": right, "loss": loss, "perplexity": math.exp(loss)}
