"""What a step of a language model costs."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger
from regard.ledger.heads import token_head
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe


def language_model(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter a causal body and what writes tokens."""
    model = recipe.model
    return [
        *body(model, facts, load.seq, causal=True),
        *token_head(recipe, model, facts, load.seq.tokens, told=load.told),
    ]
