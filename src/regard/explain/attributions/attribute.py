"""The readings by name, and how far each can be trusted."""

import numpy as np

from regard.errors import UsageError
from regard.explain.alignment import Look
from regard.explain.attributions.attention import rollout, weights
from regard.explain.attributions.attribution import Reading
from regard.explain.attributions.gradients import gradient, integrated
from regard.explain.attributions.occlusion import occlusion
from regard.explain.erasure import DRAWS, Faithfulness, erase
from regard.explain.levels import weights_of_levels
from regard.tasks.question import Question

READINGS = {
    "weights": "where the states that speak looked: raw attention",
    "rollout": "attention followed down through the layers",
    "gradient": "gradient × input",
    "integrated": "integrated gradients",
    "occlusion": "what is lost when the word is left out",
}
SEED = 1


def read(question: Question, name: str, look: Look | None = None) -> Reading:
    """Read a question in one of the ways of :data:`READINGS`."""
    levels = question.hierarchy is not None
    if name == "weights":
        return weights_of_levels(question) if levels else weights(question, look)
    if name == "rollout" and levels:
        raise UsageError(
            "looks are followed down through layers that look at the same words. Got rollout for "
            "a network that reads sentences one by one.",
            "Take --reading weights, which joins both levels, or gradient, integrated, occlusion.",
        )
    ways = {
        "rollout": rollout,
        "gradient": gradient,
        "integrated": integrated,
        "occlusion": occlusion,
    }
    return ways[name](question)


def trusted(
    question: Question, reading: Reading, *, draws: int = DRAWS, seed: int = SEED
) -> Faithfulness:
    """Erase the words that a reading ranks highest, and others drawn at random."""
    words = list(question.erasable)

    def probabilities(kept: np.ndarray) -> np.ndarray:
        rows = [
            question.without([word for word, stays in zip(words, mask, strict=True) if not stays])
            for mask in kept
        ]
        return question.evaluate(rows, score=question.probability)

    scores, generator = reading.of_words()[words], np.random.default_rng(seed)
    return erase(probabilities, scores, generator=generator, draws=draws)
