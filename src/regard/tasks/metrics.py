"""Metrics, from the libraries that define them, with the signature that says which one it was."""

from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF


class Metrics(NamedTuple):
    """Scores by name, and how each was computed."""

    scores: dict[str, float]
    signature: dict[str, str]


def translation_metrics(answers: Sequence[str], references: Sequence[str]) -> Metrics:
    """BLEU and chrF of a corpus, cased, by sacreBLEU (Post 2018)."""
    scores, signature = {}, {}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF())):
        scored = metric.corpus_score(list(answers), [list(references)])
        scores[name] = float(scored.score)
        signature[name] = str(metric.get_signature())
    return Metrics(scores, signature)
