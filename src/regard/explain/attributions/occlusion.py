"""Occlusion: leave a word out, and measure the drop (Zeiler and Fergus 2014; Li et al. 2016).

score(word) = f(text) - f(text without the word)
"""

import numpy as np
from numpy.typing import NDArray

from regard.explain.attributions.attribution import Attribution
from regard.tasks.question import Question, Score


def occlude(question: Question) -> Attribution:
    """Leave out one word at a time."""
    description = f"occlusion: drop of {question.kind} when the word is left out"
    return Attribution("occlusion", leave_out(question, question.score), description)


def leave_out(question: Question, score: Score | None) -> NDArray[np.float64]:
    """Return how far a number drops without each word, by answer and word."""
    scores = np.zeros((len(question.answers), len(question.words)))
    if score is not None:
        rows = [question.without([word]) for word in question.erasable]
        numbers = question.evaluate([list(question.ids), *rows], score=score)
        scores[:, list(question.erasable)] = (numbers[0] - numbers[1:]).T
    return scores
