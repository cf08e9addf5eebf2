"""Labels with their scores, as APIs for classification list them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.serve.choice import choose
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.rerank import LEAST, logit, write_pair
from regard.serve.served import Served
from regard.serve.truncation import refuse_cut

Asked = Sequence[str]
"""One text, or two that are a pair."""


def labels_texts(facts: Mapping[str, Any]) -> bool:
    """Whether a run gives a text labels or a score."""
    return facts.get("task") == "classification"


def labels_pairs(facts: Mapping[str, Any]) -> bool:
    """Whether a run gives a pair of texts labels or a score."""
    return facts.get("task") == "sentence-pair"


def find_classifier(engine: Engine, name: str | None, asked: Asked) -> Served:
    """Find what labels such a text or pair."""
    if len(asked) == 2:
        return choose(engine, name, [labels_pairs], "a pair needs a run of sentence pairs")
    return choose(engine, name, [labels_texts], "the labels of a text need a run of classification")


async def label(
    engine: Engine, served: Served, asked: Sequence[Asked], *, truncate: bool
) -> list[dict[str, Any]]:
    """Return the answer to each text or pair."""
    if len({len(one) for one in asked}) > 1:
        message = "all inputs are single texts, or all are pairs. Send two requests."
        raise Refusal(422, "invalid", message, param="input")
    texts = [one[0] if len(one) == 1 else write_pair(one) for one in asked]
    found = await engine.ask(served.name, "predict", texts, {"truncate": truncate})
    if not truncate:
        refuse_cut(served, found, param="inputs")
    return found


def list_labels(served: Served, answer: Mapping[str, Any], *, raw: bool) -> list[dict[str, Any]]:
    """List the labels of an answer, best first.

    ``raw`` scores are logits: log p where labels exclude each other, else log(p / (1 - p)).
    """
    if "score" in answer:
        low, high = served.facts["score_range"]
        score = logit((answer["score"] - low) / (high - low)) if raw else answer["score"]
        return [{"score": score, "label": "score"}]
    found = [
        {"score": _raw(served, share) if raw else share, "label": name}
        for name, share in answer["probabilities"].items()
    ]
    return sorted(found, key=lambda one: -one["score"])


def _raw(served: Served, share: float) -> float:
    return math.log(max(share, LEAST)) if served.facts["exclusive"] else logit(share)
