"""What there is to explain about a written answer: log p of each of its words, given the source."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.device import device_of
from regard.errors import UsageError
from regard.models.copying import likelihood
from regard.models.transformer import Transformer
from regard.tasks.question import (
    Inquiry,
    Question,
    Row,
    add_pieces,
    group_words,
    log_p,
    predicting_states,
)
from regard.tasks.task import Task
from regard.tasks.writing.pairs import passed_of, shift


class Sides(NamedTuple):
    """Source and target as ids, the token of ending last in both."""

    source: Row
    target: Row
    answer: str


def answer_in_ids(task: Task[Any], model: Transformer, inquiry: Inquiry) -> Sides:
    """Answer a text, or take the answer as given; the ids are those that the search wrote."""
    text, target = inquiry.text, inquiry.target
    try:
        answered = task.answer(model, [text])[0]
    except UsageError as error:
        raise UsageError(error.problem, "Explain a part of it.") from error
    answer = answered.text if target is None else target
    source, closed = (list(side) for side in task.encode([(text, answer)])[0])
    written = [*answered.ids, closed[-1]] if target is None and answered.ids else closed
    most = task.recipe.text.max_length
    if len(written) > most:
        raise UsageError(
            f"a target must fit the model's positions. Got {len(written)} tokens; this model "
            f"writes at most {most}.",
            "Give a shorter target.",
        )
    return Sides(source, written, answer)


def writing_question(task: Task[Any], model: Transformer, inquiry: Inquiry) -> Question:
    """Explain each written word by the words of the source."""
    sides, tokenizer = answer_in_ids(task, model, inquiry), task.tokenizer
    groups = group_words(tokenizer, sides.target, pieces=inquiry.pieces)
    device = device_of(model)
    target = torch.tensor(sides.target, device=device)

    def each(rows: Sequence[Row]) -> Tensor:
        batch = task.pad([(row, sides.target) for row in rows]).to(device)
        passed = passed_of(model, shift(batch))
        written = log_p(model.head, passed.states, sides.target)
        if model.copying is None:
            return written
        matches = batch.fields[0].ids[:, None] == target[None, :, None]
        return likelihood(model.point(passed), written, matches=matches)

    tokens = tokenizer.tokens(sides.target)
    batch = task.pad([(sides.source, sides.target)]).to(device)
    return Question(
        model,
        tokenizer,
        tuple(sides.source),
        group_words(tokenizer, sides.source, pieces=inquiry.pieces),
        lambda rows: add_pieces(each(rows), groups),
        lambda rows: each(rows).mean(dim=1).exp(),
        tuple("".join(tokens[p]) for p in groups),
        "the log-probability of each written word",
        predicting_states(groups, 0, len(sides.target)),
        lambda: task.states(model, batch),
        output="written word",
    )
