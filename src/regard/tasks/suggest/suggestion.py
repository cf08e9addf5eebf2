"""Suggest a recipe for data, with the reason for each choice."""

from collections.abc import Sequence
from typing import NamedTuple

from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import KINDS
from regard.tasks.suggest.transfer import adapt_choices
from regard.tasks.transfer import Origin, complete_from


class Suggestion(NamedTuple):
    """A recipe and the reason for each choice, by dotted path."""

    recipe: Recipe
    reasons: dict[str, str]


def suggest(task: str, files: Sequence[str], origin: Origin | None = None) -> Suggestion:
    """Choose a recipe for ``task`` from counts of ``files``; it fine-tunes ``origin``, if given."""
    kind = KINDS[task]
    seen = kind.task.survey(files)
    choices = kind.suggest(files, seen)
    if origin is None:
        return Suggestion(make(choices.tables), choices.reasons)
    choices = adapt_choices(choices, origin, seen)
    return Suggestion(complete_from(make(choices.tables), origin), choices.reasons)
