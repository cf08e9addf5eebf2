"""An attribution: how much each word contributes to each answer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.draw.label import strip_marks


class Attribution(NamedTuple):
    """How much each word contributes to each answer."""

    name: str
    scores: NDArray[np.float64]
    """By answer and word; negative where a word counts against an answer."""
    description: str
    """What the scores are, in a sentence."""

    def by_word(self) -> NDArray[np.float64]:
        """Add up what each word contributes to all answers."""
        return self.scores.sum(axis=0)

    def as_json(self, answers: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
        """Return the scores, and what they are of, under the names that scripts rely on."""
        return {
            "name": self.name,
            "description": self.description,
            "answers": strip_marks(answers),
            "words": strip_marks(words),
            "scores": self.scores.tolist(),
        }


def merge_pieces(weights: NDArray[np.floating], words: tuple[slice, ...]) -> NDArray[np.float64]:
    """Add up the scores of the pieces of each word, along the last axis."""
    return np.stack([weights[..., p].sum(axis=-1) for p in words], axis=-1).astype(np.float64)
