"""The question of labels: the logit of a label; and the attention of poolings."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.device import device_of
from regard.errors import UsageError
from regard.models.classifier import Classifier
from regard.models.han import Han, group_by_length, unfold
from regard.models.token_attention import record_tokens
from regard.tasks.baselines.ensemble import Answers, Ensemble
from regard.tasks.labelling.labels import Labels
from regard.tasks.labelling.labels import Score as ScoreLabels
from regard.tasks.question import (
    Hierarchy,
    Inquiry,
    Member,
    Positions,
    Question,
    Row,
    Score,
    TextAttention,
    group_words,
)
from regard.tasks.task import Task
from regard.text import special

Join = Callable[[Tensor, Sequence[Row]], Answers]
"""The network's logits of rows, and the rows, to the answers of an ensemble."""


def label_question(
    task: Task[Any],
    labels: Labels,
    model: Classifier | Han,
    inquiry: Inquiry,
    ensemble: Ensemble,
) -> Question:
    """Explain the logit of the most likely label, or of another, by the words of the text.

    Where an ensemble answers, the logit is the ensemble's.
    """
    device, tokenizer = device_of(model), task.tokenizer
    batch = task.encode_text(inquiry.text).to(device)
    ids, length = batch.fields[1].ids[0], int(batch.fields[1].lengths[0])
    row = ids[:length].tolist()

    def run_network(rows: Sequence[Row]) -> Tensor:
        return task.states(model, task.pad([([0], one) for one in rows]).to(device))

    def join(network: Tensor, rows: Sequence[Row]) -> Answers:
        return ensemble.join(network.cpu(), [_split_texts(task, one) for one in rows])

    with torch.inference_mode():
        own = run_network([row]).cpu()
        answers = join(own, [row])
    joined = bool(ensemble.voices(own, answers))

    def logits(rows: Sequence[Row]) -> Tensor:
        return join(run_network(rows), rows).all if joined else run_network(rows)

    best = int((answers.all if joined else own)[0].argmax())
    column = best if inquiry.label is None else _column(labels.names, inquiry.label)

    def probability(found: Tensor) -> Tensor:
        return (found.softmax(dim=1) if labels.exclusive else found.sigmoid())[:, column]

    hierarchy = None
    if isinstance(model, Han):
        hierarchy = Hierarchy(
            lambda rows: _calls(model, row, rows),
            lambda: text_attention(task, labels, model, inquiry.text),
        )
    score_range = (labels.low, labels.high) if isinstance(labels, ScoreLabels) else None
    return Question(
        model,
        tokenizer,
        tuple(row),
        group_words(tokenizer, row, pieces=inquiry.pieces),
        lambda rows: logits(rows)[:, column, None],
        lambda rows: probability(logits(rows)),
        (labels.names[column],),
        "the logit of the label" if score_range is None else "the logit of the score",
        _pooled_states(task.recipe.model.head.pooling, length),
        lambda: task.states(model, batch),
        hierarchy,
        score_range=score_range,
        others=_score_others(join, own, column) if joined else None,
        members=_list_members(ensemble, own, answers, probability) if joined else (),
    )


def _split_texts(task: Task[Any], row: Row) -> tuple[str, ...]:
    """Return the texts of a row, as other members of an ensemble read them."""
    if task.texts == 1:  # sentences of one text are separated as well
        return (task.tokenizer.decode(row),)
    ends = [place for place, id in enumerate(row) if id == special.SEP]
    return tuple(task.tokenizer.decode(row[a + 1 : b]) for a, b in pairwise([0, *ends]))


def _score_others(join: Join, own: Tensor, column: int) -> Score:
    """Return the logit if only the other members read the rows, and the network the whole text."""
    return lambda rows: join(own.expand(len(rows), -1), rows).all[:, column, None]


def _list_members(
    ensemble: Ensemble, own: Tensor, answers: Answers, probability: Callable[[Tensor], Tensor]
) -> tuple[Member, ...]:
    """List the members of an ensemble with the probability that each gives alone."""
    (share, scale, biases, _), others = ensemble.mixture, len(ensemble.networks)
    weight = (1 - share) / (1 + others)
    members = [("this run's network", weight, scale * own + biases)]
    if others:
        rest = (answers.network * (1 + others) - own) / others
        name = "the other network" if others == 1 else f"the mean of {others} other networks"
        members.append((name, weight * others, scale * rest + biases))
    if answers.bag is not None and share > 0:
        members.append(("the n-gram baseline", share, answers.bag))
    return tuple(Member(name, one, float(probability(logits)[0])) for name, one, logits in members)


def text_attention(
    task: Task[Any], labels: Labels, model: Classifier | Han, text: str
) -> TextAttention:
    """Record the attention weights of a model's poolings on a text."""
    batch = task.encode_text(text).to(device_of(model))
    ids = batch.fields[1].ids
    logits, tokens = record_tokens(model, ids, lambda: task.states(model, batch))
    return TextAttention(ids[0].tolist(), tokens, labels.names[int(logits.argmax())])


def _calls(model: Han, row: Row, rows: int) -> list[Positions]:
    """Return the positions that each call of the embedding reads: one group of sentences."""
    ids = torch.tensor(row).expand(rows, -1)
    unfolded = unfold(ids, torch.full((rows,), len(row)), separators=model.separators)
    return [
        Positions(
            unfolded.document[group, None],
            unfolded.at[group, : int(unfolded.lengths[group].max())],
        )
        for group in group_by_length(unfolded)
    ]


def _column(names: Sequence[str], label: str) -> int:
    if label not in names:
        raise UsageError(
            f"--label must be a label of the run. Got {label!r}; it has {', '.join(names[:20])}.",
            "Name one of them with --label.",
        )
    return list(names).index(label)


def _pooled_states(pooling: str, length: int) -> NDArray[np.float64]:
    """Return the weights of pooled states; those of the mean for max-pooling."""
    weights = np.full((1, length), 1 / length)
    if pooling in ("cls", "first", "last"):
        weights = np.eye(length)[[-1 if pooling == "last" else 0]]
    return weights
