"""Where a model looked in a document: HAN's words and sentences, or the hops of a text.

The weights are the model's own, heard at its taps, and put where the words stand in the text.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.layers.tap import listen
from regard.models.han import Han, unfold
from regard.run import Run


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
    if not draws_documents(run):
        raise UsageError(
            "only a model that reads by sentences or by hops draws a document. This one pools by "
            f"{run.recipe.model.head.pooling}.",
            'Train one with model.documents.read = "sentences" or model.head.pooling = "hops".',
        )
    batch, model = run.task.asked(text), run.model.eval()
    row = batch.fields[1]
    with torch.inference_mode(), listen(model) as heard:
        logits = run.task.states(model, batch)[0]
    ids = row.ids[0].tolist()
    special = run.tokenizer.is_special
    words = [word for word in run.tokenizer.words(ids) if not special(ids[word.tokens.start])]
    if not any(word.text for word in words):
        raise UsageError(
            f"a document must have at least one sentence. Got {text[:40]!r}.", "Give it a text."
        )
    sentence, among = np.zeros(len(ids), dtype=int), None
    if isinstance(model, Han):
        unfolded = unfold(row.ids, row.lengths, marks=model.marks)
        real = torch.arange(unfolded.at.shape[1]) < unfolded.lengths[:, None]
        places, flat = unfolded.at[real].numpy(), np.zeros((1, len(ids)))
        flat[0, places] = heard["word_weights"][0][real].numpy()
        sentence[places] = real.nonzero()[:, 0].numpy()
        among = heard["head.pool.weights"][0][0, 0, 0].double().numpy()
    else:
        flat = heard["head.pool.looks.weights"][0][0, 0].double().numpy()
    spans = tuple(word.tokens for word in words)
    return Looked(
        tuple(word.text for word in words),
        spans,
        tuple(int(sentence[span.start]) for span in spans),
        np.stack([flat[:, span].sum(axis=1) for span in spans], axis=1),
        among,
        run.task.labels.names[int(logits.argmax())],  # type: ignore[attr-defined]
    )
