"""Cost of a tagging step."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger
from regard.ledger.heads import label_logits
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost


class TaggingCost(Cost):
    """A body, and one logit per tag for each of its states."""

    has_labels = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        model = recipe.model
        tags = label_logits(model.ends_in, facts.labels, load.seq.tokens)
        return [*body(model, facts, load.seq, causal=bool(model.causal)), tags]
