"""Predicted throughput: what one thread's matrix products would allow, by the account of a run.

    texts per second = FLOP/s of a thread / (forward FLOPs of a text · beam)

An upper bound: small models spend more time between the products than in them.
"""

import torch

from regard.account.facts import facts_of, load_of
from regard.account.machine import flops
from regard.account.plan import ledger_of
from regard.run import Run

SECONDS = 0.05


def predict_throughput(run: Run, texts: list[str]) -> float | None:
    """Return the texts per second of one thread; None without texts to take the lengths from."""
    if not texts:
        return None
    sizes = [len(ids) for ids in run.tokenizer.encode_batch(texts)]
    load = load_of(run.recipe, max(1, round(sum(sizes) / len(sizes))))
    entries = ledger_of(run.recipe, facts_of(run.recipe, vocabulary=run.tokenizer.size), load)
    decoding = run.recipe.decoding
    beam = decoding.beam if run.task.writes and decoding.method == "beam" else 1
    per_text = 2 * sum(entry.forward_macs for entry in entries) / load.rows * beam
    return flops(torch.float32, SECONDS) / per_text if per_text else None
