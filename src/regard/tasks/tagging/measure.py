"""Evaluation of predicted tags; the baseline is the most frequent tag of each word."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from regard.tasks.tagging.entities import write_entities
from regard.tasks.tagging.example import LEARNED, Annotation, Place
from regard.tasks.tagging.metrics import (
    EntityScores,
    Tags,
    score_entities,
    signature,
    token_accuracy,
)
from regard.tasks.tagging.schemes import Scheme, read_spans, write_tags
from regard.tasks.task import Evaluation, Sample

SHOWN = 500  # characters of a sample


class Gold(NamedTuple):
    """A text and its true annotation."""

    text: str
    annotation: Annotation


class Predicted(NamedTuple):
    """Tags in the scheme of the targets, for every token of every text."""

    model: list[list[str]]
    baseline: list[list[str]]
    loss: float
    """Mean -log p of the true tags."""


def measure(gold: Sequence[Gold], predicted: Predicted) -> Evaluation:
    """Score both in the scheme of the data, or in that of the targets if the data has several."""
    schemes = {one.annotation.scheme for one in gold}
    scheme: Scheme = schemes.pop() if len(schemes) == 1 else LEARNED
    mine, theirs = (
        [_pair(one.annotation, tags, scheme) for one, tags in zip(gold, every, strict=True)]
        for every in predicted[:2]
    )
    scores, metrics = _scores(mine, scheme)
    strict = score_entities(mine, scheme, strict=True)
    return Evaluation(
        metrics={**metrics, "loss": predicted.loss},
        baseline=_scores(theirs, scheme)[1],
        signature={
            **({"micro_f1": signature(scheme, strict=False)} if "micro_f1" in metrics else {}),
            "accuracy": "share of tokens with the right tag",
        },
        examples=len(gold),
        samples=[_sample(one, tags) for one, tags in zip(gold, predicted.model, strict=True)],
        details={
            "labels": list(scores.by_type),
            "by_label": {name: score._asdict() for name, score in scores.by_type.items()},
            "micro": scores.micro._asdict(),
            "macro": scores.macro._asdict(),
            "strict": _as_details(strict, scheme),
        },
    )


def _pair(annotation: Annotation, tags: Tags, scheme: Scheme) -> tuple[Tags, Tags]:
    """Write predicted tags in the scheme of the true ones."""
    gold = annotation.tags if annotation.scheme == scheme else annotation.learned
    if scheme == "none":
        return gold, tags
    return gold, write_tags(read_spans(tags, LEARNED), len(tags), scheme)


def _scores(
    pairs: list[tuple[Tags, Tags]], scheme: Scheme
) -> tuple[EntityScores, dict[str, float]]:
    found = score_entities(pairs, scheme)
    accuracy = token_accuracy(pairs)
    micro = {} if scheme == "none" else {"micro_f1": found.micro.f1}
    return found, {**micro, "accuracy": accuracy, "macro_f1": found.macro.f1}


def _as_details(strict: EntityScores, scheme: Scheme) -> dict[str, Any]:
    return {
        "micro_f1": strict.micro.f1,
        "macro_f1": strict.macro.f1,
        "signature": signature(scheme, strict=True),
    }


def _sample(one: Gold, tags: Tags) -> Sample:
    text, annotation = one
    scheme: Scheme = "none" if annotation.scheme == "none" else LEARNED
    expected, answered = (
        write_entities(text, _marks(annotation.tokens, each, scheme))[:SHOWN]
        for each in (annotation.learned, tags)
    )
    return Sample(text[:SHOWN], expected, answered)


def _marks(tokens: Sequence[Place], tags: Tags, scheme: Scheme) -> list[dict[str, Any]]:
    return [
        {"entity_group": span.label, "end": tokens[span.end - 1][1]}
        for span in read_spans(tags, scheme)
    ]
