"""Encode documents as rows of sentences, each ended by [SEP].

    [CLS] sentence [SEP] sentence [SEP] … [SEP]

A sentence that is too long is split into parts of about the same length, so that documents without
punctuation can be read too; ``text.max_length`` bounds the document.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from regard.text import special
from regard.text.sentences import split_sentences
from regard.text.tokenizer import Tokenizer


def encode_documents(tokenizer: Tokenizer, texts: Sequence[str], *, words: int) -> list[list[int]]:
    """Encode texts with [SEP] between sentences of at most ``words`` tokens."""
    sentences = [split_sentences(text) for text in texts]
    encoded = iter(tokenizer.encode_batch([one for own in sentences for one in own]))
    return [
        joined([part for ids in islice(encoded, len(own)) for part in parts(ids, words)])
        for own in sentences
    ]


def parts(ids: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Split a sentence into the fewest parts of at most ``most``, of about the same length."""
    count = max(1, -(-len(ids) // most))
    for begin, end in pairwise(len(ids) * n // count for n in range(count + 1)):
        yield ids[begin:end]


def joined(sentences: Sequence[Sequence[int]]) -> list[int]:
    """Join sentences with [SEP]; empty ones are left out."""
    ids: list[int] = []
    for sentence in sentences:
        if ids and sentence:
            ids.append(special.SEP)
        ids += sentence
    return ids


def head_tail_of_document(ids: Sequence[int], most: int) -> list[int]:
    """Return the first quarter of ``most`` and the last three, separated by [SEP]."""
    if len(ids) <= most:
        return list(ids)
    first = most // 4
    return [*ids[:first], special.SEP, *ids[len(ids) - (most - first - 1) :]]
