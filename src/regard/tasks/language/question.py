"""The question of a text's last word, or continuation: log p of its words, given the rest."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.device import device_of
from regard.models.gpt import LanguageModel
from regard.tasks.question import (
    AnsweredBatch,
    Inquiry,
    Question,
    Row,
    add_pieces,
    group_words,
    log_p,
    predicting_states,
)
from regard.tasks.task import Task


class Prompt(NamedTuple):
    """A text in two parts: the second is explained by the first."""

    ids: Row
    ending: Row


def continued_batch(task: Task[Any], model: LanguageModel, text: str) -> AnsweredBatch:
    """Continue a text; return prompt and continuation as one row."""
    answered = task.answer(model, [text])[0]
    (ids,) = task.encode([(text,)])[0]
    whole = [*ids[:-1], *answered.ids][: task.recipe.text.max_length - 1]
    return AnsweredBatch(answered.text, task.pad([([*whole, ids[-1]],)]))


def ending_question(task: Task[Any], model: LanguageModel, inquiry: Inquiry) -> Question:
    """Explain the last word by those before it, or the continuation by the text."""
    tokenizer, (ids,) = task.tokenizer, task.encode([(inquiry.text,)])[0]
    boundary, most = ids[-1], task.recipe.text.max_length
    prompt, ending = _split_ending(task, model, inquiry, ids[:-1])
    task.check_length(len(prompt) + 1)
    ending = ending[: max(1, most - len(prompt))]
    groups = group_words(tokenizer, ending, pieces=inquiry.pieces)
    device = device_of(model)

    def each(rows: Sequence[Row]) -> Tensor:
        batch = task.pad([([*row[1:], *ending],) for row in rows]).to(device)
        states = task.states(model, batch)
        last = [len(row) - 1 for row in rows]
        places = (torch.tensor(last)[:, None] + torch.arange(len(ending))).to(device)
        chosen = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        return log_p(model.head, chosen, ending)

    tokens, row = tokenizer.tokens(ending), [boundary, *prompt]
    batch = task.pad([([*prompt, *ending],)]).to(device)
    return Question(
        model,
        tokenizer,
        tuple(row),
        group_words(tokenizer, row, pieces=inquiry.pieces),
        lambda rows: add_pieces(each(rows), groups),
        lambda rows: each(rows).mean(dim=1).exp(),
        tuple("".join(tokens[p]) for p in groups),
        "the log-probability of each word that followed",
        predicting_states(groups, len(prompt), len(prompt) + len(ending)),
        lambda: task.states(model, batch),
        output="word",
    )


def _split_ending(task: Task[Any], model: LanguageModel, inquiry: Inquiry, ids: Row) -> Prompt:
    """Split off the last word, or generate a continuation."""
    if inquiry.continue_text:
        return Prompt(ids, list(task.answer(model, [inquiry.text])[0].ids) or ids[-1:])
    last = task.tokenizer.words(ids)[-1].tokens
    return Prompt(ids[: last.start], ids[last])
