"""Documents drawn with the attention of poolings: HAN's words and sentences, or hops over a text.

    picture = draw_document(run, text)

The weights are drawn behind the words, with what erasing the words of the highest weight does to
the answer. Words are erased from the text; sentence ends stay.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.draw.document import DocumentPicture, DocumentView, DrawnSentence
from regard.explain.attributions.attribute import attribute, measure_answer
from regard.explain.document_attention import DocumentAttention, record_document
from regard.explain.document_attention import (
    has_text_attention as has_text_attention,  # also for the verb
)
from regard.explain.erasure import Faithfulness, MeanErasure, average_erasure, count_words
from regard.layers.diversity import overlap
from regard.run import Run


def draw_document(
    run: Run, text: str, faithfulness: Faithfulness | None = None, answer: str = ""
) -> DocumentPicture:
    """Answer a document, and draw its attention weights with what erasing words does.

    ``faithfulness`` is passed where it is known already: it takes many forward passes. ``answer``
    is that of an ensemble, where one answers.
    """
    found = record_document(run, text)
    answer = answer or found.answer
    if faithfulness is None:
        question = run.task.question(run.model, text)
        faithfulness = measure_answer(question, attribute(question, "weights"))
    overlaps = None
    if found.sentence_weights is None:
        weights = torch.from_numpy(found.word_weights)[None]
        shares = weights / weights.sum(dim=2, keepdim=True).clamp(min=1e-12)
        overlaps = overlap(shares)[0].numpy()
    return DocumentPicture(
        make_views(found),
        answer,
        faithfulness.describe(answer),
        overlap=overlaps,
    )


def make_views(found: DocumentAttention) -> list[DocumentView]:
    """Lay the words out by sentence, once for each hop."""
    if found.sentence_weights is not None:
        return [DocumentView("words and sentences", _group_sentences(found, found.word_weights[0]))]
    mean = DocumentView("mean over all hops", _group_sentences(found, found.scores))
    each = [
        DocumentView(f"hop {number}", _group_sentences(found, weights))
        for number, weights in enumerate(found.word_weights, 1)
    ]
    return [mean, *each]


def average_faithfulness(run: Run, texts: Sequence[str], *, draws: int = 20) -> MeanErasure:
    """Average over many documents what erasing the words of the highest weight does."""
    questions = (run.task.question(run.model, text) for text in texts)
    found = [
        measure_answer(question, attribute(question, "weights"), draws=draws, seed=number)
        for number, question in enumerate(questions)
    ]
    return average_erasure(found, generator=np.random.default_rng(0))


def describe_mean(mean: MeanErasure) -> str:
    """Say in one sentence what erasing does on average."""
    texts = count_words(mean.texts, "1 held-out document", "{} held-out documents")
    return (
        f"Over {texts}, the answer's probability changes by {-100 * mean.top:+.1f} points without "
        f"the words of the highest attention weight, by {-100 * mean.chance:+.1f} without as many "
        f"others: a difference of {-100 * mean.advantage:+.1f} (95% interval "
        f"{-100 * mean.high:+.1f} to {-100 * mean.low:+.1f})."
    )


def _group_sentences(found: DocumentAttention, weights: NDArray[np.float64]) -> list[DrawnSentence]:
    among = found.sentence_weights
    if among is None:
        return [DrawnSentence(found.words, weights.tolist())]
    groups: list[list[int]] = [[] for _ in among]
    for place, sentence in enumerate(found.sentence):
        groups[sentence].append(place)
    return [
        DrawnSentence([found.words[n] for n in own], weights[own].tolist(), float(share))
        for own, share in zip(groups, among, strict=True)
    ]
