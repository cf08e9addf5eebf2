"""Occlusion: leave a word out, and measure the drop (Zeiler and Fergus 2014; Li et al. 2016).

score(word) = f(text) - f(text without the word)
"""

import numpy as np

from regard.explain.attributions.attribution import Attribution
from regard.tasks.question import Question


def occlude(question: Question) -> Attribution:
    """Leave out one word at a time."""
    rows = [question.without([word]) for word in question.erasable]
    numbers = question.evaluate([list(question.ids), *rows])
    scores = np.zeros((len(question.answers), len(question.words)))
    scores[:, list(question.erasable)] = (numbers[0] - numbers[1:]).T
    description = f"occlusion: drop of {question.kind} when the word is left out"
    return Attribution("occlusion", scores, description)
