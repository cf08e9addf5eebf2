"""Viterbi decoding: the most likely tag sequence that the scheme allows (Viterbi 1967).

    tags* = argmax Σ log p(tag of token)    over sequences in which I-X follows B-X or I-X

There are no learned transition scores. Without prefixes, each token gets its most likely tag.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.tasks.tagging.tag_set import scheme_of

Numbers = NDArray[np.float64]


class Decoder:
    """Decodes the tags of a text.

    Args:
        tags: All tags there are, in the order of the columns of ``log_p``.

    """

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags, self.scheme = tuple(tags), scheme_of(tags)
        needed = [_may_follow(tag) if self.scheme != "none" else None for tag in tags]
        rows = [[who is None or before in who for who in needed] for before in (*tags, None)]
        self._barred = np.where(np.array(rows), 0.0, -np.inf)
        """Added to a path's score: from tag (row; the last one is the beginning) to tag."""

    def best(self, log_p: Numbers) -> list[int]:
        """Find the most likely allowed sequence; ``log_p`` has rows of tokens, columns of tags."""
        if not len(log_p):
            return []
        score = log_p[0] + self._barred[-1]
        came_from = []
        for each in log_p[1:]:
            paths = score[:, None] + self._barred[:-1]
            came_from.append(paths.argmax(axis=0))
            score = paths.max(axis=0) + each
        best = [int(score.argmax())]
        for before in reversed(came_from):
            best.append(int(before[best[-1]]))
        return best[::-1]


def _may_follow(tag: str) -> tuple[str, str] | None:
    """Return the tags that may precede one; None for any."""
    label = tag.removeprefix("I-")
    return (f"B-{label}", f"I-{label}") if label != tag else None
