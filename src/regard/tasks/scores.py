"""Scores by name: which way is better, and how a person reads them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

LOWER_IS_BETTER = {"loss", "perplexity", "bits_per_byte", "ece"}
SHARES = {
    "accuracy",
    "macro_f1",
    "micro_f1",
    "ece",
    "masked_accuracy",
    "next_accuracy",
    "pair_accuracy",
    "replaced_accuracy",
    "replaced_f1",
    "rouge1",
    "rouge2",
    "rougel",
}
"""Scores between 0 and 1 that people read as percent."""


HUNDREDS = {"bleu", "chrf"}
"""Scores that reach from 0 to 100 by themselves."""

RANKINGS = {"ndcg@10", "mrr@10", "recall@10", "recall@100", "map"}
"""Scores between 0 and 1 that people read as such."""


class Scale(NamedTuple):
    """How a score is drawn."""

    factor: float
    unit: str
    digits: int
    best: float | None
    """Where the scale ends, if it does, in the drawn unit."""


def scale(name: str) -> Scale:
    """Say how scores of this name are drawn."""
    if name in SHARES:
        return Scale(100.0, "%", 1, 100.0)
    if name in RANKINGS:
        return Scale(1.0, "", 3, 1.0)
    return Scale(1.0, "", 1, 100.0) if name in HUNDREDS else Scale(1.0, "", 3, None)


def better(name: str, score: float, *, than: float) -> bool:
    """Tell whether a score beats another."""
    return score < than if name in LOWER_IS_BETTER else score > than


def shown(name: str, score: float) -> str:
    """Write a score with as many digits as mean something."""
    if name in SHARES:
        return f"{100 * score:.1f}%"
    return f"{score:.3f}" if abs(score) < 10 else f"{score:.2f}"


def told_alone(measured: Mapping[str, Any]) -> str:
    """Say what each of those that answer together scores alone; nothing where one answers."""
    alone = measured.get("details", {}).get("alone", {})
    name = next(iter(measured["metrics"]))
    told = ", ".join(f"{who} {shown(name, score)}" for who, score in alone.items())
    return f"It answers together with others; alone, {name}: {told}." if alone else ""


def lasted(seconds: float) -> str:
    """Write how long something took, so that seconds are not a tenth of a minute."""
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.1f} minutes"


def with_interval(name: str, mean: float, half: float | None) -> str:
    """Write a mean with how far the true one may be from it, where that is known."""
    return shown(name, mean) if half is None else f"{shown(name, mean)} ± {shown(name, half)}"
