"""The readings by name, and how far each can be trusted."""

import numpy as np

from regard.errors import UsageError
from regard.explain.alignment import Look
from regard.explain.faithfulness import Faithfulness, faithfulness
from regard.explain.levels import weights_of_levels
from regard.explain.readings.gradients import gradient, integrated
from regard.explain.readings.looks import rollout, weights
from regard.explain.readings.occlusion import occlusion
from regard.explain.readings.question import Question
from regard.explain.readings.reading import Reading
from regard.models.han import Han

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
    if isinstance(question.run.model, Han):
        return _read_document(question, name)
    if name == "weights":
        return weights(question, look)
    ways = {
        "rollout": rollout,
        "gradient": gradient,
        "integrated": integrated,
        "occlusion": occlusion,
    }
    return ways[name](question)


def _read_document(question: Question, name: str) -> Reading:
    """Read what a hierarchical network said, which reads sentence by sentence."""
    if name == "weights":
        return weights_of_levels(question)
    if name == "occlusion":
        return occlusion(question)
    raise UsageError(
        f"a network that reads sentences one by one is read by weights or occlusion. Got {name!r}.",
        "Take --reading occlusion.",
    )


def trusted(question: Question, reading: Reading, *, seed: int = SEED) -> Faithfulness:
    """Erase the words that a reading ranks highest, and others drawn at random."""
    words = list(question.erasable)

    def probabilities(kept: np.ndarray) -> np.ndarray:
        rows = [
            question.without([word for word, stays in zip(words, mask, strict=True) if not stays])
            for mask in kept
        ]
        return question.numbers(rows, ask=question.chance)

    return faithfulness(
        probabilities,
        reading.of_words()[words],
        generator=np.random.default_rng(seed),
    )
