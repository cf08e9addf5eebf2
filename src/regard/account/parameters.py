"""Parameters by part, by formula, without building the model."""

from typing import NamedTuple

from regard.account.facts import load_of
from regard.account.plan import ledger_of
from regard.ledger.entry import Ledger, sum_by_part
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe


class Parameters(NamedTuple):
    """Numbers of parameters."""

    total: int
    """All of them."""
    body: int
    """Without output heads; BERT's with its pooler, as published."""
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
        sum_by_part((entry.part, entry.parameters) for entry in entries),
    )
