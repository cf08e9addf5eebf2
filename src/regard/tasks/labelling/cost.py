"""Cost of a step of a labelled task."""

from regard.ledger.blocks import body
from regard.ledger.documents import hierarchy
from regard.ledger.entry import Ledger
from regard.ledger.heads import label_head, label_logits
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost


def labels(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Count a body, or a hierarchical network, and a label head."""
    model = recipe.model
    if model.documents.read == "sentences":
        logits = label_logits(model.ends_in, facts.labels, load.rows)
        return [*hierarchy(model, facts, load), logits]
    return [
        *body(model, facts, load.seq, causal=bool(model.causal)),
        *label_head(model, facts.labels, load.seq),
    ]


class LabelCost(Cost):
    """A body and a label head."""

    has_labels = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        return labels(recipe, facts, load)
