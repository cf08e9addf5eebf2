"""The attributions by name, and how faithful each is."""

from collections.abc import Callable
from itertools import count, takewhile

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.explain.alignment import MapIndex
from regard.explain.attributions.attention import attribute_by_rollout, attribute_by_weights
from regard.explain.attributions.attribution import Attribution
from regard.explain.attributions.gradients import attribute_by_gradient, integrate_gradients
from regard.explain.attributions.occlusion import occlude
from regard.explain.erasure import DRAWS, Faithfulness, Masks, erase, rank
from regard.explain.levels import attribute_by_levels
from regard.explain.output_erasure import OutputFaithfulness, erase_for_each
from regard.tasks.question import Question, Score

ATTRIBUTIONS = {
    "weights": "attention weights of the predicting states",
    "rollout": "attention rollout through the layers",
    "gradient": "gradient × input",
    "integrated-gradients": "integrated gradients",
    "occlusion": "drop when the word is left out",
}
SEED = 1
ROWS_AT_ONCE = 32
Progress = Callable[[int, int], None]
"""Called with how much is done of how much."""


def attribute(question: Question, name: str, shown: MapIndex | None = None) -> Attribution:
    """Attribute an answer to words by one of :data:`ATTRIBUTIONS`.

    ``shown`` is the map that ``weights`` are taken from, by default the last layer's mean.
    """
    hierarchical = question.hierarchy is not None
    if name == "weights":
        if hierarchical:
            return attribute_by_levels(question)
        return attribute_by_weights(question, shown)
    if name == "rollout" and hierarchical:
        raise UsageError(
            "rollout multiplies the attention of layers over the same words. This network reads "
            "sentences one by one.",
            "Take --attribution weights, which joins both levels, or gradient, "
            "integrated-gradients, occlusion.",
        )
    methods = {
        "rollout": attribute_by_rollout,
        "gradient": attribute_by_gradient,
        "integrated-gradients": integrate_gradients,
        "occlusion": occlude,
    }
    return methods[name](question)


def measure_faithfulness(
    question: Question, attribution: Attribution, *, progress: Progress | None = None
) -> Faithfulness | OutputFaithfulness:
    """Test an answer as a whole, or each output of one that has several."""
    if question.output:
        return measure_outputs(question, attribution, progress=progress)
    return measure_answer(question, attribution, progress=progress)


def measure_answer(
    question: Question,
    attribution: Attribution,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Faithfulness:
    """Erase the words that an attribution ranks highest, and others drawn at random."""
    score, limits = question.probability, question.score_range
    scores = attribution.by_word()[list(question.erasable)]
    low = limits is not None and question.evaluate([list(question.ids)], score=score)[0] < 1 / 2
    if limits is not None and low:  # what makes a score low lowers its distance to the upper end
        scores, limits = -scores, (limits[1], limits[0])

    def probabilities(kept: Masks) -> NDArray[np.float64]:
        found = _evaluate(question, kept, score, progress)
        return 1 - found if low else found

    found = erase(probabilities, scores, generator=np.random.default_rng(seed), draws=draws)
    top, names = rank(scores)[: found.comprehensiveness.words], _name_erasable(question)
    return found._replace(erased=tuple(names[place] for place in top), score_range=limits)


def measure_outputs(
    question: Question, attribution: Attribution, *, progress: Progress | None = None
) -> OutputFaithfulness:
    """Erase, for every output, the words attributed to it, and others drawn at random.

    The end of the text is no output.
    """
    tokenizer = question.tokenizer
    marks = tokenizer.tokens(takewhile(tokenizer.is_special, count()))
    predicted = [n for n, name in enumerate(question.answers) if name not in marks]
    outputs = erase_for_each(
        lambda kept: _evaluate(question, kept, question.score, progress)[:, predicted],
        attribution.scores[predicted][:, list(question.erasable)],
        [question.answers[n] for n in predicted],
        _name_erasable(question),
        generator=np.random.default_rng(SEED),
    )
    return OutputFaithfulness(outputs, question.output)


def _name_erasable(question: Question) -> list[str]:
    return [question.names[word] for word in question.erasable]


def _evaluate(
    question: Question, kept: Masks, score: Score, progress: Progress | None
) -> NDArray[np.float64]:
    """Score the text with words left out, some variants at a time."""
    rows = [
        question.without([question.erasable[place] for place in np.flatnonzero(~mask)])
        for mask in kept
    ]
    found = []
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        found.append(question.evaluate(rows[begin : begin + ROWS_AT_ONCE], score=score))
        if progress is not None:
            progress(min(len(rows), begin + ROWS_AT_ONCE), len(rows))
    return np.concatenate(found)
