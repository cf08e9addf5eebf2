"""Where a model looked in a document: HAN's words and sentences, or the hops of a text.

The weights are the model's own, heard at its taps, and put where the words stand in the text.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.run import Run
from regard.tasks.question import TextAttention
from regard.text.tokenizer import Tokenizer


class Looked(NamedTuple):
    """One document, what was answered, and where the model looked."""

    words: tuple[str, ...]
    spans: tuple[slice, ...]
    """Tokens of each word, in the row."""
    sentence: tuple[int, ...]
    """Which sentence each word stands in; all in the first where none are told apart."""
    word_weights: NDArray[np.float64]
    """Axes: hop, word. Of HAN there is one, and each sentence sums to one."""
    sentence_weights: NDArray[np.float64] | None
    """None where the text is not read by sentences."""
    answer: str

    @property
    def scores(self) -> NDArray[np.float64]:
        """How much of the whole look each word had, over all hops."""
        if self.sentence_weights is None:
            return self.word_weights.mean(axis=0)
        return self.word_weights[0] * self.sentence_weights[list(self.sentence)]


def draws_documents(run: Run) -> bool:
    """Whether a run's looks are drawn over its text: HAN's, or those of hops."""
    model = run.recipe.model
    return model.documents.read == "sentences" or model.head.pooling == "hops"


def look(run: Run, text: str) -> Looked:
    """Let the model read a document, and listen."""
    found = run.task.text_attention(run.model, text)
    if found is None:
        raise UsageError(
            "only a model that reads by sentences or by hops draws a document. This one pools by "
            f"{run.recipe.model.head.pooling}.",
            'Train one with model.documents.read = "sentences" or model.head.pooling = "hops".',
        )
    looked = words_of(run.tokenizer, found)
    if not any(looked.words):
        raise UsageError(
            f"a document must have at least one sentence. Got {text[:40]!r}.", "Give it a text."
        )
    return looked


def words_of(tokenizer: Tokenizer, found: TextAttention) -> Looked:
    """Add up the weights of each word's tokens; special tokens are left out."""
    ids, special = found.ids, tokenizer.is_special
    words = [word for word in tokenizer.words(ids) if not special(ids[word.tokens.start])]
    spans = tuple(word.tokens for word in words)
    return Looked(
        tuple(word.text for word in words),
        spans,
        tuple(int(found.tokens.sentence[span.start]) for span in spans),
        np.stack([found.tokens.weights[:, span].sum(axis=1) for span in spans], axis=1),
        found.tokens.sentence_weights,
        found.answer,
    )
