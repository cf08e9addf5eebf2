"""The question of labels: the logit of a label; and the attention of poolings."""

from collections.abc import Sequence
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
from regard.tasks.labelling.labels import Labels
from regard.tasks.question import (
    Hierarchy,
    Inquiry,
    Positions,
    Question,
    Row,
    TextAttention,
    group_words,
)
from regard.tasks.task import Task


def label_question(
    task: Task[Any], labels: Labels, model: Classifier | Han, inquiry: Inquiry
) -> Question:
    """Explain the logit of the most likely label, or of another, by the words of the text."""
    device, tokenizer = device_of(model), task.tokenizer
    batch = task.encode_text(inquiry.text).to(device)
    ids, length = batch.fields[1].ids[0], int(batch.fields[1].lengths[0])
    row = ids[:length].tolist()

    def logits(rows: Sequence[Row]) -> Tensor:
        return task.states(model, task.pad([([0], one) for one in rows]).to(device))

    with torch.inference_mode():
        best = int(logits([row])[0].argmax())
    column = best if inquiry.label is None else _column(labels.names, inquiry.label)

    def probability(rows: Sequence[Row]) -> Tensor:
        found = logits(rows)
        every = found.softmax(dim=1) if labels.exclusive else found.sigmoid()
        return every[:, column]

    hierarchy = None
    if isinstance(model, Han):
        hierarchy = Hierarchy(
            lambda rows: _calls(model, row, rows),
            lambda: text_attention(task, labels, model, inquiry.text),
        )
    return Question(
        model,
        tokenizer,
        tuple(row),
        group_words(tokenizer, row, pieces=inquiry.pieces),
        lambda rows: logits(rows)[:, column, None],
        probability,
        (labels.names[column],),
        "the logit of the label",
        _pooled_states(task.recipe.model.head.pooling, length),
        lambda: task.states(model, batch),
        hierarchy,
    )


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
