"""Parameters by part, by formula: nothing is built to be counted."""

from typing import NamedTuple

from regard.account.facts import load_of
from regard.account.plan import ledger_of
from regard.ledger.entry import Ledger, by_part
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe


class Parameters(NamedTuple):
    """How many numbers a model learns."""

    total: int
    """Everything in the run."""
    body: int
    """What reads and thinks, without heads; BERT's with its pooler, as it was published."""
    parts: dict[str, int]
    """By part, largest first."""


def parameters(recipe: Recipe, facts: Facts) -> Parameters:
    """Count the parameters of a recipe's model."""
    return count(ledger_of(recipe, facts, load_of(recipe)))


def count(entries: Ledger) -> Parameters:
    """Sum the parameters of a ledger."""
    return Parameters(
        sum(entry.parameters for entry in entries),
        sum(entry.parameters for entry in entries if entry.body),
        by_part((entry.part, entry.parameters) for entry in entries),
    )
