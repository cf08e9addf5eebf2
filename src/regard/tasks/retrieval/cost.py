"""What a step of retrieval costs: queries and documents pass the same body, then meet."""

from regard.ledger.blocks import body
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, again
from regard.ledger.heads import label_head
from regard.ledger.load import MARKS, Facts, Load
from regard.recipe.model import ModelSettings
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost, rows_of_shard


def dual_encoder(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter both sides and their similarities."""
    model = recipe.model
    passed = [_one_side(recipe, facts, seq) for seq in (load.asking, load.seq)]
    wide = 2 * model.width if model.head.pooling == "mean-max" else model.ends_in
    # What answers is passed last, so the way back meets it first: there gradients appear.
    likeness = Entry("likeness", 0, load.asking.rows * load.rows * wide, body=False)
    return [*again(passed[0]), *passed[1], likeness]


def _one_side(recipe: Recipe, facts: Facts, seq: Seq) -> Ledger:
    model, settings = recipe.model, recipe.retrieval
    passed = body(model, facts, seq, causal=bool(model.causal))
    if settings.term_weights == "even":
        return [*passed, *label_head(model, 0, seq)]
    return [*passed, _weighted(facts, model, seq, learns=settings.term_weights == "learned")]


def _weighted(facts: Facts, model: ModelSettings, seq: Seq, *, learns: bool) -> Entry:
    """Book a mean in which every token has a number of its own."""
    macs, saved = seq.tokens * model.width, FLOAT * seq.tokens * model.width
    entry = Entry("pooling", facts.vocabulary, macs, saved=saved, body=False, learns=learns)
    return entry if learns else entry._replace(back=macs)


class RetrievalCost(Cost):
    """Queries and documents."""

    queries = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        return dual_encoder(recipe, facts, load)

    @classmethod
    def typical_length(cls, recipe: Recipe) -> int:
        return min(recipe.text.max_length, recipe.retrieval.document_length[1] + MARKS)

    @classmethod
    def typical_load(cls, recipe: Recipe, length: int) -> Load:
        answers = 1 + recipe.retrieval.hard_negatives
        rows = rows_of_shard(recipe, length * answers)
        asking = Seq(rows, min(length, recipe.retrieval.query_length[1] + MARKS))
        return Load(rows * answers, length, asking=asking)
