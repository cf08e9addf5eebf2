"""Cost of an encoder-decoder step."""

from regard.ledger.blocks import embedding, stack
from regard.ledger.documents import pointer
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq
from regard.ledger.heads import token_head
from regard.ledger.load import TYPICAL, Facts, Load
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost


def encoder_decoder(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Count encoder, decoder and token head."""
    model = recipe.model
    source, target = load.seq, Seq(load.rows, load.target_length)
    context = FLOAT * source.tokens * model.width
    embedded = embedding(model, facts.vocabulary, target)
    if model.tied:
        embedded = [entry._replace(parameters=0) for entry in embedded]
    copying = pointer(model.width, target, source) if model.copying else []
    return [
        *embedding(model, facts.vocabulary, source),
        *stack(model, model.depth, source, causal=False),
        Entry("context", saved=context),
        *embedded,
        *stack(model, model.decoder_depth, target, causal=True, context=source),
        *copying,
        *token_head(recipe, model, facts, load.targets or target.tokens),
    ]


class WritingCost(Cost):
    """An encoder-decoder."""

    writes = writes_target = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        return encoder_decoder(recipe, facts, load)


class DocumentWritingCost(WritingCost):
    """An encoder-decoder that reads documents."""

    long_texts = True


class SummaryCost(DocumentWritingCost):
    """An encoder-decoder that writes summaries."""

    @classmethod
    def answer_length(cls, recipe: Recipe, length: int) -> int:
        """Return about a sentence: a summary is short."""
        return min(length, TYPICAL)
