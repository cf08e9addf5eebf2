"""Documents as a model looked at them, drawn: HAN's words and sentences, or the hops of a text.

    picture = document_picture(run, text)

The looks are drawn over the text, with what erasing the words looked at most does: words are taken
out of the text, sentence ends stay.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.draw.document import DocumentPicture, DrawnSentence, View
from regard.explain.attributions.attribute import read, trusted
from regard.explain.document_attention import Looked, look
from regard.explain.document_attention import (
    draws_documents as draws_documents,  # also for the verb
)
from regard.explain.erasure import Faithfulness, Mean, mean_erasure
from regard.layers.diversity import overlap
from regard.run import Run


def document_picture(run: Run, text: str, trust: Faithfulness | None = None) -> DocumentPicture:
    """Answer a document and draw where the model looked, with what erasing those words does.

    ``trust`` is what that does to the answer, where it is known already: it takes many answers.
    """
    looked = look(run, text)
    if trust is None:
        asked = run.task.question(run.model, text)
        trust = trusted(asked, read(asked, "weights"))
    alike = None
    if looked.sentence_weights is None:
        weights = torch.from_numpy(looked.word_weights)[None]
        shares = weights / weights.sum(dim=2, keepdim=True).clamp(min=1e-12)
        alike = overlap(shares)[0].numpy()
    return DocumentPicture(
        views(looked),
        looked.answer,
        trust.in_words(looked.answer),
        overlap=alike,
    )


def views(looked: Looked) -> list[View]:
    """Lay the words out by sentence, once for each look."""
    if looked.sentence_weights is not None:
        return [View("words and sentences", _drawn(looked, looked.word_weights[0]))]
    mean = View("mean over all hops", _drawn(looked, looked.scores))
    each = [
        View(f"hop {number}", _drawn(looked, weights))
        for number, weights in enumerate(looked.word_weights, 1)
    ]
    return [mean, *each]


def faithfulness(run: Run, texts: Sequence[str], *, draws: int = 20) -> Mean:
    """Average what erasing the words looked at most does over many documents."""
    every = (run.task.question(run.model, text) for text in texts)
    found = [
        trusted(asked, read(asked, "weights"), draws=draws, seed=number)
        for number, asked in enumerate(every)
    ]
    return mean_erasure(found, generator=np.random.default_rng(0))


def told_mean(mean: Mean) -> str:
    """Say in one sentence what erasing does on average."""
    return (
        f"Over {mean.texts} held-out documents, leaving out the words looked at most costs the "
        f"answer {100 * mean.top:.1f} points of probability, leaving out as many others "
        f"{100 * mean.chance:.1f}: {100 * mean.advantage:.1f} more (95% interval "
        f"{100 * mean.low:.1f} to {100 * mean.high:.1f})."
    )


def _drawn(looked: Looked, weights: NDArray[np.float64]) -> list[DrawnSentence]:
    among = looked.sentence_weights
    if among is None:
        return [DrawnSentence(looked.words, weights.tolist())]
    groups: list[list[int]] = [[] for _ in among]
    for place, sentence in enumerate(looked.sentence):
        groups[sentence].append(place)
    return [
        DrawnSentence([looked.words[n] for n in own], weights[own].tolist(), float(share))
        for own, share in zip(groups, among, strict=True)
    ]
