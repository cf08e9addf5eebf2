"""Scores by name: which way is better, how they are written, and the table of a split."""

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
    "subset_accuracy",
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


def find_scale(name: str) -> Scale:
    """Return how scores of this name are drawn."""
    if name in SHARES:
        return Scale(100.0, "%", 1, 100.0)
    if name in RANKINGS:
        return Scale(1.0, "", 3, 1.0)
    return Scale(1.0, "", 1, 100.0) if name in HUNDREDS else Scale(1.0, "", 3, None)


def is_better(name: str, score: float, *, than: float) -> bool:
    """Tell whether a score beats another."""
    return score < than if name in LOWER_IS_BETTER else score > than


class ScoreRow(NamedTuple):
    """One metric of a split, of the model and of what it is compared with."""

    metric: str
    model: float
    baseline: float | None
    together: float | None
    """Of model and baseline answering together."""
    alone: Mapping[str, float]
    """Of each member of an ensemble, for the task's own metric; empty for the others."""

    def format(self) -> dict[str, str]:
        """Write the scores of ``model``, ``baseline`` and both ``together``, where there are."""
        scores = {"model": self.model, "baseline": self.baseline, "together": self.together}
        return {who: format_score(self.metric, n) for who, n in scores.items() if n is not None}

    def format_alone(self) -> str:
        """Write the scores of the members of an ensemble."""
        return ", ".join(f"{who} {format_score(self.metric, n)}" for who, n in self.alone.items())


def tabulate_scores(measured: Mapping[str, Any]) -> list[ScoreRow]:
    """Make the table of a split's scores, as ``metrics.json`` and :class:`Evaluation` have them."""
    scores = dict(measured["metrics"])
    baseline, together = scores.pop("baseline"), scores.pop("together", {})
    alone = measured.get("details", {}).get("alone", {})
    return [
        ScoreRow(name, score, baseline.get(name), together.get(name), {} if number else alone)
        for number, (name, score) in enumerate(scores.items())
    ]


def describe_alone(measured: Mapping[str, Any]) -> str:
    """Describe an ensemble: the score of each member alone, and the share of the baseline."""
    first = tabulate_scores(measured)[0]
    if not first.alone:
        return ""
    alone = f"These are the scores of an ensemble; {first.metric} alone: {first.format_alone()}."
    return " ".join(part for part in (alone, describe_share(measured)) if part)


def list_labels(measured: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write the scores of each label with its threshold, where a text may have several labels."""
    return [
        (
            label,
            f"F1 {each['f1']:.1%}, precision {each['precision']:.1%}, recall {each['recall']:.1%}; "
            f"true of {each['support']:,} texts; threshold {each['threshold']:.2f}",
        )
        for label, each in measured.get("details", {}).get("by_label", {}).items()
        if "threshold" in each
    ]


def describe_empty(measured: Mapping[str, Any]) -> str:
    """Say how many texts were answered with no label, where there may be several."""
    empty = measured.get("details", {}).get("no_label")
    if not empty:
        return ""
    answered, true, texts = empty["answered"], empty["true"], measured["count"]
    return f"of {texts:,} texts {answered:,} are answered with no label; {true:,} have none"


def describe_share(measured: Mapping[str, Any]) -> str:
    """Describe the fitted share of the baseline in the answers; nothing if it was not fitted."""
    fitted = measured.get("details", {}).get("fitted")
    if not fitted:
        return ""
    share, where = fitted["baseline_share"], f"on {fitted['held_out']:,} held-out texts"
    if share == 1.0:
        return f"The network adds nothing to the baseline {where}: the answers are the baseline's."
    if share == 0.0:
        return f"The baseline adds nothing to the network {where}: the answers are the network's."
    return f"The baseline's share in the answers, fitted {where}, is {share:.2f}."


def format_score(name: str, score: float) -> str:
    """Write a score with as many digits as mean something."""
    if name in SHARES:
        return f"{100 * score:.1f}%"
    return f"{score:.3f}" if abs(score) < 10 else f"{score:.2f}"


def format_interval(name: str, mean: float, half: float | None) -> str:
    """Write a mean with its confidence interval, where that is known."""
    written = format_score(name, mean)
    return written if half is None else f"{written} ± {format_score(name, half)}"


def format_duration(seconds: float) -> str:
    """Write a duration in seconds up to two minutes, then in minutes."""
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.1f} minutes"
