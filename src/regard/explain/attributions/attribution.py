"""What a reading says: how much each word gave to each answer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.draw.label import plain


class Reading(NamedTuple):
    """How much each word gave to each answer."""

    name: str
    scores: NDArray[np.float64]
    """By answer and word; may be negative where words can speak against an answer."""
    told: str
    """What the scores are, in a sentence."""

    def of_words(self) -> NDArray[np.float64]:
        """Add up what each word gave to all answers."""
        return self.scores.sum(axis=0)

    def as_json(self, answers: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
        """Return the scores, and what they are of, under the names that scripts rely on."""
        return {
            "name": self.name,
            "told": self.told,
            "answers": plain(answers),
            "words": plain(words),
            "scores": self.scores.tolist(),
        }


def merged(weights: NDArray[np.floating], words: tuple[slice, ...]) -> NDArray[np.float64]:
    """Add up what the pieces of each word got, along the last axis."""
    return np.stack([weights[..., p].sum(axis=-1) for p in words], axis=-1).astype(np.float64)
