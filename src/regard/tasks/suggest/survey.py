"""Count examples and words in files that no recipe describes yet."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from regard.data.record import LABEL, Fault, Request
from regard.data.source import make_error, scan
from regard.errors import DataError
from regard.recipe.data import DataSettings

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
    labels: frozenset[str] = frozenset()
    """Every value of a label or score."""

    def describe(self, what: str) -> str:
        """Say how many of ``what`` there are, and how long they are."""
        over = "over " if self.more else ""
        return f"{over}{self.examples:,} {what} of {self.words:.0f} words"


HELD_OUT = "no validation files were given, so a share of train is held out."


class Choices(NamedTuple):
    """The tables of a recipe, and the reason for each choice by dotted path."""

    tables: dict[str, Any]
    reasons: dict[str, str]


Choose = Callable[[Sequence[str], DataSurvey], Choices]
"""Chooses a recipe for files and their counts."""


def survey(data: DataSettings, request: Request) -> DataSurvey:
    """Read the first examples, count their words, and keep what is in their last field."""
    counts = []
    last: set[str] = set()
    request = request._replace(label_separator=SEPARATOR)
    faults: list[Fault] = []
    for record in scan(data.train, request, format=data.format):
        if isinstance(record, Fault):
            if record.severity == "fatal":
                raise make_error(record)
            faults += [record] if record.severity == "bad" and not faults else []
            continue
        if request.roles[-1:] == (LABEL,):
            last.add(record.fields[-1].strip())
        counts.append(max(len(field.split()) for field in record.fields))
        if len(counts) > MOST_SURVEYED:
            break
    if not counts and faults:
        raise make_error(faults[0])
    if not counts:
        raise DataError(
            f"data must hold at least one example. Got none in {', '.join(data.train)}.",
            "Check the paths; `regard init --help` shows the formats.",
        )
    examples = min(len(counts), MOST_SURVEYED)
    more = len(counts) > MOST_SURVEYED
    return DataSurvey(examples, more, float(np.mean(counts)), max(counts), frozenset(last))
