"""The attributions by name, and how faithful each is."""

import numpy as np

from regard.errors import UsageError
from regard.explain.alignment import MapIndex
from regard.explain.attributions.attention import attribute_by_rollout, attribute_by_weights
from regard.explain.attributions.attribution import Attribution
from regard.explain.attributions.gradients import attribute_by_gradient, integrate_gradients
from regard.explain.attributions.occlusion import occlude
from regard.explain.erasure import DRAWS, Faithfulness, erase
from regard.explain.levels import attribute_by_levels
from regard.tasks.question import Question

ATTRIBUTIONS = {
    "weights": "attention weights of the predicting states",
    "rollout": "attention rollout through the layers",
    "gradient": "gradient × input",
    "integrated-gradients": "integrated gradients",
    "occlusion": "drop when the word is left out",
}
SEED = 1


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
    question: Question, attribution: Attribution, *, draws: int = DRAWS, seed: int = SEED
) -> Faithfulness:
    """Erase the words that an attribution ranks highest, and others drawn at random."""
    words = list(question.erasable)

    def probabilities(kept: np.ndarray) -> np.ndarray:
        rows = [
            question.without([word for word, stays in zip(words, mask, strict=True) if not stays])
            for mask in kept
        ]
        return question.evaluate(rows, score=question.probability)

    scores, generator = attribution.by_word()[words], np.random.default_rng(seed)
    return erase(probabilities, scores, generator=generator, draws=draws)
