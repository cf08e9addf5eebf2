"""Attention of a hierarchical network: sentences to their words, the document to its sentences.

words       row i: attention of sentence i to its own words
sentences   one row: attention of the document to its sentences
"""

import numpy as np
from numpy.typing import NDArray

from regard.explain.attributions.attribution import Attribution, merge_pieces
from regard.explain.document_attention import DocumentAttention, merge_tokens, record_document
from regard.explain.trace import Trace, Traced
from regard.run import Run
from regard.tasks.question import Question, one_by_one


def trace_levels(run: Run, text: str) -> Traced:
    """Answer a document and record the attention of both levels."""
    found = record_document(run, text)
    assert found.sentence_weights is not None
    among: NDArray[np.float32] = found.sentence_weights.astype(np.float32)
    sentences = tuple(f"sentence {n + 1}" for n in range(len(among)))
    within = np.zeros((len(sentences), len(found.words)), dtype=np.float32)
    within[list(found.sentence), np.arange(len(found.words))] = found.word_weights[0]
    words = Trace(
        source=found.words,
        target=sentences,
        weights=within[None, None],
        source_words=one_by_one(len(found.words)),
        target_words=one_by_one(len(sentences)),
        answer=found.answer,
        stack="words",
    )
    above = Trace(
        source=sentences,
        target=("document",),
        weights=among[None, None, None],
        source_words=one_by_one(len(sentences)),
        target_words=one_by_one(1),
        answer=found.answer,
        stack="sentences",
    )
    return Traced(found.answer, {"words": words, "sentences": above})


def attribute_by_levels(question: Question) -> Attribution:
    """Score each word by its sentence's weight times its own weight in the sentence."""
    assert question.hierarchy is not None
    found = merge_tokens(question.tokenizer, question.hierarchy.attention())
    shares = _spread_over_tokens(found, len(question.ids))[None]
    description = "weights: a word's weight in its sentence, times the sentence's weight"
    return Attribution("weights", merge_pieces(shares, question.words), description)


def _spread_over_tokens(found: DocumentAttention, length: int) -> NDArray[np.float64]:
    """Spread each word's weight evenly over its tokens."""
    shares = np.zeros(length)
    for span, score in zip(found.spans, found.scores.tolist(), strict=True):
        shares[span] = score / (span.stop - span.start)
    return shares
