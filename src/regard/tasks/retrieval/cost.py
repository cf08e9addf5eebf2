"""Cost of a retrieval step: one encoder for queries and documents, then their similarities."""

from regard.ledger.blocks import body
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, repeat_pass
from regard.ledger.heads import label_head
from regard.ledger.load import MARKS, Facts, Load
from regard.recipe.model import ModelSettings
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost, rows_of_shard


def dual_encoder(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Count both sides and their similarities."""
    model = recipe.model
    queries, documents = (_encode(recipe, facts, seq) for seq in (load.queries, load.seq))
    wide = 2 * model.width if model.head.pooling == "mean-max" else model.ends_in
    # Documents are encoded last, so the backward pass allocates gradients there.
    similarity = Entry("similarity", 0, load.queries.rows * load.rows * wide, body=False)
    return [*repeat_pass(queries), *documents, similarity]


def _encode(recipe: Recipe, facts: Facts, seq: Seq) -> Ledger:
    model, settings = recipe.model, recipe.retrieval
    entries = body(model, facts, seq, causal=bool(model.causal))
    if settings.term_weights == "even":
        return [*entries, *label_head(model, 0, seq)]
    trainable = settings.term_weights == "learned"
    return [*entries, _weighted_mean(facts, model, seq, trainable=trainable)]


def _weighted_mean(facts: Facts, model: ModelSettings, seq: Seq, *, trainable: bool) -> Entry:
    """Count a mean with one weight per token of the vocabulary."""
    macs, saved = seq.tokens * model.width, FLOAT * seq.tokens * model.width
    entry = Entry("pooling", facts.vocabulary, macs, saved=saved, body=False, trainable=trainable)
    return entry if trainable else entry._replace(backward=macs)


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
        documents = 1 + recipe.retrieval.hard_negatives
        rows = rows_of_shard(recipe, length * documents)
        queries = Seq(rows, min(length, recipe.retrieval.query_length[1] + MARKS))
        return Load(rows * documents, length, queries=queries)
