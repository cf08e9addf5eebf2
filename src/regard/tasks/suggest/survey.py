"""Count examples and words in files that no recipe describes yet."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from regard.data.record import Request
from regard.data.source import RecordReader, scan
from regard.errors import DataError

MOST_SURVEYED = 200_000  # examples
SEPARATOR = "|"  # joins labels that a format lists


class DataSurvey(NamedTuple):
    """Counts of examples and words."""

    examples: int
    more: bool
    """Whether there are more examples than were counted."""
    words: float
    """Mean number of words of the longest field."""
    longest: int
    """Words of the longest text."""

    def describe(self, what: str) -> str:
        """Say how many of ``what`` there are, and how long they are."""
        over = "over " if self.more else ""
        return f"{over}{self.examples:,} {what} of {self.words:.0f} words"


class Choices(NamedTuple):
    """The tables of a recipe, and the reason for each choice by dotted path."""

    tables: dict[str, Any]
    reasons: dict[str, str]


Choose = Callable[[Sequence[str], DataSurvey], Choices]
"""Chooses a recipe for files and their counts."""


def survey(files: Sequence[str], *, expected: int) -> DataSurvey:
    """Read the first examples of ``expected`` fields and count their words."""
    counts = []
    request = Request(expected, label_separator=SEPARATOR)
    for record in RecordReader(scan(files, request), skip=True):
        counts.append(max(len(field.split()) for field in record.fields))
        if len(counts) > MOST_SURVEYED:
            break
    if not counts:
        raise DataError(
            f"data must hold at least one example. Got none in {', '.join(files)}.",
            "Check the paths; `regard init --help` shows the formats.",
        )
    examples = min(len(counts), MOST_SURVEYED)
    return DataSurvey(examples, len(counts) > MOST_SURVEYED, float(np.mean(counts)), max(counts))
