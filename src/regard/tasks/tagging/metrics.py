"""Entity scores, equal to those of ``seqeval`` in its default and in its strict mode.

    precision = right / predicted      recall = right / true      F1 = 2·P·R / (P + R)

A span is right if its type and both its ends are. Micro adds the counts of all types up, macro is
the plain mean of the types' scores; 0 / 0 is 0. Accuracy is the share of tokens with the right tag.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from regard import __version__
from regard.tasks.tagging.schemes import Scheme, read_spans

Tags = Sequence[str]


class SpanScore(NamedTuple):
    """The scores of one type of span, or of all together."""

    precision: float
    recall: float
    f1: float
    support: int
    """True spans."""


class EntityScores(NamedTuple):
    """Scores of predicted spans."""

    micro: SpanScore
    macro: SpanScore
    by_type: dict[str, SpanScore]
    """Types that are true or predicted anywhere, sorted."""


def score_entities(
    pairs: Iterable[tuple[Tags, Tags]], scheme: Scheme, *, strict: bool = False
) -> EntityScores:
    """Score predicted tags (second) against true ones (first), sentence by sentence."""
    right: Counter[str] = Counter()
    true: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for gold, said in pairs:
        wanted = set(read_spans(gold, scheme, strict=strict))
        found = set(read_spans(said, scheme, strict=strict))
        true.update(span.label for span in wanted)
        predicted.update(span.label for span in found)
        right.update(span.label for span in wanted & found)
    types = sorted(true | predicted)
    by_type = {name: _score(right[name], predicted[name], true[name]) for name in types}
    micro = _score(right.total(), predicted.total(), true.total())
    macro = SpanScore(
        _mean(score.precision for score in by_type.values()),
        _mean(score.recall for score in by_type.values()),
        _mean(score.f1 for score in by_type.values()),
        micro.support,
    )
    return EntityScores(micro, macro, by_type)


def token_accuracy(pairs: Iterable[tuple[Tags, Tags]]) -> float:
    """Return the share of tokens whose predicted tag is the true one."""
    every = [
        mine == theirs for gold, said in pairs for mine, theirs in zip(gold, said, strict=True)
    ]
    return sum(every) / max(1, len(every))


def signature(scheme: str, *, strict: bool) -> str:
    """Say how entity scores were computed."""
    return (
        f"entity-f1|mode:{'strict' if strict else 'default'}|scheme:{scheme}|regard:{__version__}"
    )


def _mean(scores: Iterable[float]) -> float:
    every = list(scores)
    return sum(every) / max(1, len(every))


def _score(right: int, predicted: int, true: int) -> SpanScore:
    precision, recall = right / max(1, predicted), right / max(1, true)
    both = precision + recall
    return SpanScore(precision, recall, 2 * precision * recall / both if both else 0.0, true)
