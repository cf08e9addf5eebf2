"""What a step of a language model costs."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger
from regard.ledger.heads import token_head
from regard.ledger.load import Facts, Load, distinct
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost


def language_model(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter a causal body and what writes tokens."""
    model = recipe.model
    return [
        *body(model, facts, load.seq, causal=True),
        *token_head(recipe, model, facts, load.seq.tokens, told=load.told),
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
        return load._replace(told=distinct(recipe.text.vocabulary, load.rows * length))
