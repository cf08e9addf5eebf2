"""The question of tags: the log-probability of the tags of each predicted span.

An erased word is replaced by [MASK], so that all words keep their positions and tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.device import device_of
from regard.errors import UsageError
from regard.models.tagger import Tagger
from regard.tasks.question import Inquiry, Question, Row, group_words
from regard.tasks.tagging.decode import Decoder
from regard.tasks.tagging.example import find_words
from regard.tasks.tagging.rows import to_rows
from regard.tasks.tagging.schemes import OUTSIDE, Span, read_spans
from regard.tasks.task import Task
from regard.text import special


@dataclass(frozen=True)
class TagQuestion(Question):
    """A question whose answers are positions of the text."""

    def without(self, erased: Sequence[int]) -> Row:
        """Return the ids with these words masked."""
        gone = {place for n in erased for place in range(self.words[n].start, self.words[n].stop)}
        return [special.MASK if place in gone else id for place, id in enumerate(self.ids)]


def tag_question(task: Task[Any], decoder: Decoder, model: Tagger, inquiry: Inquiry) -> Question:
    """Explain the tags of every predicted span, or of those with one label.

    If no span is predicted, the tags O are explained.
    """
    text, tokenizer = inquiry.text, task.tokenizer
    batch = task.encode_text(text).to(device_of(model))
    row = batch.fields[1].ids[0].tolist()
    tokens = find_words(text)
    (places,) = to_rows(tokenizer, [text], [tokens])
    firsts = [1 + first for first in places.firsts]  # behind [CLS]

    def log_p(rows: Sequence[Row]) -> Tensor:
        batch = task.pad([([0] * len(one), one) for one in rows]).to(device_of(model))
        return task.states(model, batch)[:, firsts].log_softmax(dim=-1)

    with torch.inference_mode():
        best = decoder.best(log_p([row])[0].cpu().double().numpy())
    spans = read_spans([decoder.tags[number] for number in best], decoder.scheme)
    chosen = [one for one in spans if inquiry.label in (None, one.label)]
    names = [f"{text[tokens[s.begin][0] : tokens[s.end - 1][1]]}[{s.label}]" for s in chosen]
    if not chosen and inquiry.label is None:
        chosen, names = [Span(0, len(tokens), OUTSIDE)], ["no span"]
    if not chosen:
        raise UsageError(
            f"an attribution needs a word tagged {inquiry.label}. The model predicts none in "
            f"{text[:60]!r}.",
            "Leave --label out, or give another text.",
        )

    def score(rows: Sequence[Row]) -> Tensor:
        each = log_p(rows)[:, range(len(best)), best]
        return torch.stack([each[:, one.begin : one.end].sum(dim=1) for one in chosen], dim=1)

    predicting = np.zeros((len(chosen), len(row)))
    for answer, one in enumerate(chosen):
        predicting[answer, firsts[one.begin : one.end]] = 1 / (one.end - one.begin)
    return TagQuestion(
        model,
        tokenizer,
        tuple(row),
        group_words(tokenizer, row, pieces=inquiry.pieces),
        score,
        lambda rows: score(rows).mean(dim=1).exp(),
        tuple(names),
        "the log-probability of each span's tags",
        predicting,
        lambda: task.states(model, batch),
        output="span",
    )
