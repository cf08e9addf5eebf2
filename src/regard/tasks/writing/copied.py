"""What was copied: for every written token, the pointer's share of its probability.

    copied(y) = (1 - g)·Σ_{i: xᵢ = y} weightsᵢ / p(y)

A word's share is the mean over its tokens.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.data.batch import Batch, pad
from regard.device import device_of
from regard.models.copying import likelihood
from regard.models.transformer import Transformer
from regard.tasks.writing.pairs import passed_of, shift
from regard.text import special
from regard.text.tokenizer import Tokenizer

CopiedWord = tuple[str, float]
"""A word of an answer and how much of it was copied, from 0 to 1."""


def copied_words(
    model: Transformer, tokenizer: Tokenizer, rows: Sequence[tuple[list[int], list[int]]]
) -> list[list[CopiedWord]]:
    """Say of each answer, given with its source, how much of each word was copied."""
    closed = [([*source, special.END], [*answer, special.END]) for source, answer in rows]
    sides = tuple(pad(list(side), filler=special.PAD) for side in zip(*closed, strict=True))
    batch = Batch(sides, np.arange(len(rows))).to(device_of(model))
    shares = copied_shares(model, batch).tolist()
    found = []
    for (_, answer), row in zip(rows, shares, strict=True):
        words = tokenizer.words(answer)
        own = [row[word.tokens] for word in words]
        found.append([(w.text, sum(each) / len(each)) for w, each in zip(words, own, strict=True)])
    return found


@torch.inference_mode()
def copied_shares(model: Transformer, batch: Batch) -> Tensor:
    """Give the share of every target token of a batch, padding and all."""
    pair, target = shift(batch), batch.fields[1].ids
    passed = passed_of(model, pair)
    pointed = model.point(passed)
    log_p = model.head(passed.states).log_softmax(dim=-1)
    written = log_p.gather(-1, target[..., None])[..., 0]
    matches = pair.source[:, None] == target[..., None]
    never = torch.full_like(written, -torch.inf)
    whole, copied = (likelihood(pointed, each, matches=matches) for each in (written, never))
    return (copied - whole).exp()
