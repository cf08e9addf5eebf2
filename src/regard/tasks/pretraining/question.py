"""The question of masked words: log p of the word predicted at each ``[MASK]``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.device import device_of
from regard.errors import UsageError
from regard.models.bert import Bert
from regard.tasks.pretraining.fill_masks import MASK
from regard.tasks.question import Inquiry, Question, Row, group_words
from regard.tasks.task import Task
from regard.text import special


def mask_question(task: Task[Any], model: Bert, inquiry: Inquiry) -> Question:
    """Explain the most likely word at every ``[MASK]`` by the words around it."""
    device, tokenizer = device_of(model), task.tokenizer
    batch = task.encode_text(inquiry.text).to(device)
    shown = batch.fields[0]
    row = shown.ids[0, : int(shown.lengths[0])].tolist()
    masked = [n for n, id in enumerate(row) if id == special.MASK]
    if not masked:
        raise UsageError(
            f"an attribution needs a {MASK} whose prediction it explains. Got none in "
            f"{inquiry.text[:60]!r}.",
            f"Write {MASK} in place of a word, or use --attribution weights.",
        )

    def each(rows: Sequence[Row]) -> Tensor:
        states = task.states(model, task.pad([(one[1:],) for one in rows]).to(device))
        places = torch.tensor([[n for n, id in enumerate(r) if id == special.MASK] for r in rows])
        places = places.to(device)
        chosen = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        return model.head(chosen).log_softmax(dim=-1)

    with torch.no_grad():
        ordinary = each([row])[0]
        ordinary[:, [n for n in range(tokenizer.size) if tokenizer.is_special(n)]] = -torch.inf
        filled = ordinary.argmax(dim=-1)

    def chosen(rows: Sequence[Row]) -> Tensor:
        return each(rows).gather(2, filled.expand(len(rows), -1)[:, :, None])[:, :, 0]

    return Question(
        model,
        tokenizer,
        tuple(row),
        group_words(tokenizer, row, pieces=inquiry.pieces),
        chosen,
        lambda rows: chosen(rows).mean(dim=1).exp(),
        tuple(tokenizer.tokens(filled.tolist())),
        f"the log-probability of the word at each {MASK}",
        np.eye(len(row))[masked],
        lambda: task.states(model, batch),
        output="masked word",
    )
