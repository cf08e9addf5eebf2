"""Encode words as rows of subwords, and compute the logits of tokens.

    row      [CLS] subwords of the words [SEP]
    first    position of a token's first subword, where its tag is predicted

A longer text is read in windows that overlap by half; the tag of a token is taken from the window
in whose middle it is.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batch import cut_batches, pad
from regard.device import device_of
from regard.models.tagger import Tagger
from regard.tasks.tagging.example import Place, words_of
from regard.text import special
from regard.text.tokenizer import Tokenizer

MARKS = 2  # [CLS] and [SEP]
BATCH_TOKENS = 8192


class Row(NamedTuple):
    """The subwords of a text, without special tokens."""

    ids: list[int]
    firsts: list[int]
    """Position of each token's first subword; ascending."""


class Window(NamedTuple):
    """A part of a row, and the positions whose tags it predicts."""

    begin: int
    first: int
    last: int
    """Exclusive."""


def encode_words(tokenizer: Tokenizer, words: Iterable[str]) -> dict[str, list[int]]:
    """Encode every word by itself; one without subwords is unknown."""
    every = sorted(set(words))
    # A tokenizer of characters does not mark the beginning of a word.
    before = " " if tokenizer.kind == "characters" else ""
    found = tokenizer.encode_batch([before + word for word in every])
    return {word: ids or [special.UNKNOWN] for word, ids in zip(every, found, strict=True)}


def to_rows(
    tokenizer: Tokenizer, texts: Sequence[str], tokens: Sequence[Sequence[Place]]
) -> list[Row]:
    """Encode the tokens of texts as rows."""
    cut_up = [
        [words_of(text[begin:end]) for begin, end in places]
        for text, places in zip(texts, tokens, strict=True)
    ]
    pieces = encode_words(tokenizer, (word for own in cut_up for words in own for word in words))
    return [
        _row([[id for word in words for id in pieces[word]] for words in own]) for own in cut_up
    ]


def _row(tokens: Sequence[Sequence[int]]) -> Row:
    firsts = np.cumsum([0, *map(len, tokens)])[:-1]
    return Row([id for own in tokens for id in own], firsts.tolist())


def windows(length: int, most: int) -> list[Window]:
    """Cover a row with windows of at most ``most`` that overlap by half or more."""
    if length <= most:
        return [Window(0, 0, length)]
    count = -(-(length - most) // max(1, most // 2)) + 1
    begins = np.linspace(0, length - most, count).round().astype(int).tolist()
    middles = [(one + other + most) // 2 for one, other in pairwise(begins)]
    edges = zip(begins, [0, *middles], [*middles, length], strict=True)
    return [Window(*each) for each in edges]


@torch.inference_mode()
def token_logits(
    model: Tagger, rows: Sequence[Row], *, most: int, tags: int
) -> list[Float[Tensor, "token tag"]]:
    """Compute the logits of every token; a window has at most ``most`` subwords."""
    model.eval()
    if not rows:
        return []
    flat = [(text, one) for text, row in enumerate(rows) for one in windows(len(row.ids), most)]
    flat.sort(key=lambda each: min(len(rows[each[0]].ids), most))
    lengths = np.array([min(len(rows[text].ids), most) + MARKS for text, _ in flat], dtype=np.int64)
    found = [torch.zeros(len(row.firsts), tags) for row in rows]
    for begin, end in pairwise(cut_batches(lengths, budget=BATCH_TOKENS)):
        some = flat[begin:end]
        ids, counts = pad(
            [special.frame(rows[text].ids[one.begin : one.begin + most]) for text, one in some],
            filler=special.PAD,
        ).to(device_of(model))
        logits = model(ids, lengths=counts).cpu()
        for each, (text, one) in zip(logits, some, strict=True):
            firsts = np.asarray(rows[text].firsts)
            numbers = np.flatnonzero((firsts >= one.first) & (firsts < one.last))
            found[text][numbers] = each[1 + firsts[numbers] - one.begin]
    return found
