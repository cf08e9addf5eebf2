"""Evidence for an answer: the words it comes from, and the test whether that is more than chance.

    attribution    a score per word of the text, for the answer or each of its words
    alignment      for each word written, the source word with the highest cross-attention
    erasure        p(answer) without the words ranked highest, and with these alone

Evidence whose words are no better than random ones is not shown; a sentence says so instead.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from regard.draw.label import strip_marks
from regard.errors import UsageError
from regard.explain.erasure import Erasure, Faithfulness
from regard.explain.explain import ExplainOptions, explain
from regard.explain.explanation import Explanation
from regard.explain.output_erasure import OutputFaithfulness
from regard.run import Run

CHANCE = "no better than chance"
TOO_SHORT = "too few words to measure"
NOTHING = "the answer has no number to explain"


def find_evidence(run: Run, text: str, options: ExplainOptions) -> dict[str, Any] | str | None:
    """Return the evidence for an answer, or say why there is none; None for a blank text."""
    if not text.strip():
        return None
    try:
        found = explain(run, text, None, replace(options, continue_text=run.task.continues_text))
    except UsageError as error:
        return error.problem
    return describe_evidence(found)


def describe_evidence(found: Explanation) -> dict[str, Any] | str:
    """Return an explanation's evidence under names that scripts rely on."""
    if found.attribution is None or found.faithfulness is None:
        return NOTHING
    erasure = _describe_erasure(found.faithfulness)
    if isinstance(erasure, str):
        return erasure
    evidence = {
        "attribution": found.attribution.as_json(found.answers, found.words),
        "erasure": erasure,
        "sentence": found.sentence,
    }
    return evidence | ({"alignment": align(found)} if found.stack == "cross" else {})


def align(found: Explanation) -> dict[str, Any]:
    """Align each word of the answer with the source word it attends to most."""
    assert found.shown is not None
    trace = found.trace
    weights = found.shown.select(trace)
    best = weights.argmax(axis=1)
    links = zip(range(len(best)), best.tolist(), weights.max(axis=1).tolist(), strict=True)
    return {
        "map": found.shown.name,
        "source": strip_marks(trace.source),
        "target": strip_marks(trace.target),
        "links": [list(link) for link in links],
    }


def _describe_erasure(found: Faithfulness | OutputFaithfulness) -> dict[str, Any] | str:
    """Return the figures of the test, or say why they are no evidence."""
    if isinstance(found, OutputFaithfulness):
        if found.outputs and not found.dependent:
            return CHANCE
        return {"outputs": found.as_json("")["outputs"]} if found.outputs else TOO_SHORT
    without, alone = found.comprehensiveness, found.sufficiency
    if not without.words:
        return TOO_SHORT
    if not (found.faithful or found.suffices):
        return CHANCE
    return {
        "words": without.words,
        "probability": without.whole,
        "without": _describe_drop(without),
        "alone": _describe_drop(alone),
    }


def _describe_drop(found: Erasure) -> dict[str, Any]:
    """Return the probability that is left, and what is left for random words (95% of draws)."""
    left = np.asarray([found.high, found.low])
    return {
        "probability": found.whole - found.top,
        "random": (found.whole - left).tolist(),
    }
