"""Occlusion: leave a word out, and see what the answer loses (Zeiler and Fergus 2014; Li 2016).

score(word) = f(text) - f(text without the word)
"""

import numpy as np

from regard.explain.attributions.attribution import Reading
from regard.tasks.question import Question


def occlusion(question: Question) -> Reading:
    """Read by leaving out one word at a time."""
    rows = [question.without([word]) for word in question.erasable]
    numbers = question.evaluate([list(question.ids), *rows])
    scores = np.zeros((len(question.answers), len(question.words)))
    scores[:, list(question.erasable)] = (numbers[0] - numbers[1:]).T
    told = f"occlusion: what {question.kind} loses when the word is left out"
    return Reading("occlusion", scores, told)
