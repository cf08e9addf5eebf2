"""The levels of a hierarchical network as looks: words of each sentence, sentences of a document.

words       row i is the look of sentence i at its own words
sentences   one row: the look of the document at its sentences
"""

import numpy as np
from numpy.typing import NDArray

from regard.explain.attributions.attribution import Reading, merged
from regard.explain.document_attention import Looked, look, words_of
from regard.explain.trace import Trace, Traced
from regard.run import Run
from regard.tasks.question import Question, one_by_one


def trace_levels(run: Run, asked: str) -> Traced:
    """Answer a document and record the looks of both levels."""
    looked = look(run, asked)
    assert looked.sentence_weights is not None
    among: NDArray[np.float32] = looked.sentence_weights.astype(np.float32)
    sentences = tuple(f"sentence {n + 1}" for n in range(len(among)))
    within = np.zeros((len(sentences), len(looked.words)), dtype=np.float32)
    within[list(looked.sentence), np.arange(len(looked.words))] = looked.word_weights[0]
    words = Trace(
        source=looked.words,
        target=sentences,
        weights=within[None, None],
        source_words=one_by_one(len(looked.words)),
        target_words=one_by_one(len(sentences)),
        answer=looked.answer,
        stack="words",
    )
    above = Trace(
        source=sentences,
        target=("document",),
        weights=among[None, None, None],
        source_words=one_by_one(len(sentences)),
        target_words=one_by_one(1),
        answer=looked.answer,
        stack="sentences",
    )
    return Traced(looked.answer, {"words": words, "sentences": above})


def weights_of_levels(question: Question) -> Reading:
    """Read by each word's share of the whole look: its sentence's, times its own within it."""
    assert question.hierarchy is not None
    looked = words_of(question.tokenizer, question.hierarchy.attention())
    shares = _by_token(looked, len(question.ids))[None]
    told = "weights: a word's share of its sentence's look, times the sentence's share"
    return Reading("weights", merged(shares, question.words), told)


def _by_token(looked: Looked, length: int) -> NDArray[np.float64]:
    """Spread each word's share evenly over its tokens."""
    shares = np.zeros(length)
    for span, score in zip(looked.spans, looked.scores.tolist(), strict=True):
        shares[span] = score / (span.stop - span.start)
    return shares
