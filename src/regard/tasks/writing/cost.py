"""What a step of an encoder-decoder costs."""

from regard.ledger.blocks import embedding, stack
from regard.ledger.documents import pointer
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq
from regard.ledger.heads import token_head
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe


def encoder_decoder(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter encoder, decoder and what writes tokens."""
    model = recipe.model
    source, target = load.seq, Seq(load.rows, load.written)
    context = FLOAT * source.tokens * model.width
    writing = embedding(model, facts.vocabulary, target)
    if model.tied:
        writing = [entry._replace(parameters=0) for entry in writing]
    copying = pointer(model.width, target, source) if model.copying else []
    return [
        *embedding(model, facts.vocabulary, source),
        *stack(model, model.depth, source, causal=False),
        Entry("context", saved=context),
        *writing,
        *stack(model, model.decoder_depth, target, causal=True, context=source),
        *copying,
        *token_head(recipe, model, facts, load.asked or target.tokens),
    ]
