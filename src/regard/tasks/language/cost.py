"""Cost of a language-modelling step."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger
from regard.ledger.heads import token_head
from regard.ledger.load import Facts, Load, expected_distinct
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost


def language_model(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Count a causal body and the token head."""
    model = recipe.model
    return [
        *body(model, facts, load.seq, causal=True),
        *token_head(recipe, model, facts, load.seq.tokens, sampled=load.sampled),
    ]


class LanguageModelCost(Cost):
    """A causal model over windows."""

    writes = windows = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        return language_model(recipe, facts, load)

    @classmethod
    def typical_load(cls, recipe: Recipe, length: int) -> Load:
        load = super().typical_load(recipe, length)
        if recipe.training.softmax == "full":
            return load
        return load._replace(sampled=expected_distinct(recipe.text.vocabulary, load.rows * length))
