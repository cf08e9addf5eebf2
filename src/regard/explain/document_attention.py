"""Attention of poolings over a document: HAN's words and sentences, or the hops of a text.

The weights are the model's own, recorded at its taps, and merged into the words of the text.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.run import Run
from regard.tasks.question import TextAttention
from regard.text.tokenizer import Tokenizer


class DocumentAttention(NamedTuple):
    """One document, its answer, and the attention weights of its words and sentences."""

    words: tuple[str, ...]
    spans: tuple[slice, ...]
    """Tokens of each word, in the row."""
    sentence: tuple[int, ...]
    """The sentence of each word; 0 where the text is not read by sentences."""
    word_weights: NDArray[np.float64]
    """Axes: hop, word. Of HAN there is one hop, and each sentence sums to one."""
    sentence_weights: NDArray[np.float64] | None
    """None where the text is not read by sentences."""
    answer: str

    @property
    def scores(self) -> NDArray[np.float64]:
        """The weight of each word in the whole text: mean over hops, or sentence times word."""
        if self.sentence_weights is None:
            return self.word_weights.mean(axis=0)
        return self.word_weights[0] * self.sentence_weights[list(self.sentence)]


def has_text_attention(run: Run) -> bool:
    """Say whether a model attends to words by sentences (HAN) or by hops."""
    model = run.recipe.model
    return model.documents.read == "sentences" or model.head.pooling == "hops"


def record_document(run: Run, text: str) -> DocumentAttention:
    """Let the model read a document, and record the attention of its poolings."""
    found = run.task.text_attention(run.model, text)
    if found is None:
        raise UsageError(
            "only a model that reads by sentences or by hops attends to a document. This one pools "
            f"by {run.recipe.model.head.pooling}.",
            'Train one with model.documents.read = "sentences" or model.head.pooling = "hops".',
        )
    document = merge_tokens(run.tokenizer, found)
    if not any(document.words):
        raise UsageError(
            f"a document must have at least one sentence. Got {text[:40]!r}.", "Give it a text."
        )
    return document


def merge_tokens(tokenizer: Tokenizer, found: TextAttention) -> DocumentAttention:
    """Add up the weights of each word's tokens; special tokens are left out."""
    ids, special = found.ids, tokenizer.is_special
    words = [word for word in tokenizer.words(ids) if not special(ids[word.tokens.start])]
    spans = tuple(word.tokens for word in words)
    return DocumentAttention(
        tuple(word.text for word in words),
        spans,
        tuple(int(found.tokens.sentence[span.start]) for span in spans),
        np.stack([found.tokens.weights[:, span].sum(axis=1) for span in spans], axis=1),
        found.tokens.sentence_weights,
        found.answer,
    )
