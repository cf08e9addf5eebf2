"""What a step of pretraining costs: a body, and the heads of its objective."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger, Seq, renamed
from regard.ledger.heads import light_decoder, pair_head, replaced_head, token_head
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.recipe.scaled_settings import generator_of, light_decoder_of
from regard.tasks.cost import Cost, rows_of_shard
from regard.tasks.labelling.cost import labels


def masked_words(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter what an objective trains."""
    model, settings = recipe.model, recipe.pretraining
    pairs = pair_head(model, load.seq) if settings.pairs != "none" else []
    whole = facts._replace(written=facts.vocabulary)
    if settings.objective == "replaced":
        small = generator_of(model, settings)
        proposing = [
            *body(small, whole, load.seq, causal=False),
            *token_head(recipe, small, whole, load.asked, drawn=True),
        ]
        trunk = body(model, whole, load.seq, causal=False)
        head = replaced_head(model, load.seq)
        return [*renamed(proposing, "generator", body=False), *trunk, *head, *pairs]
    if settings.objective == "autoencoder":
        light = light_decoder_of(model, settings)
        seen = Seq(load.rows, load.kept)
        decoder = light_decoder(model, light, seen, load.seq)
        trunk = body(model, whole, seen, causal=False)
        return [*trunk, *decoder, *token_head(recipe, model, whole, load.asked)]
    trunk = body(model, whole, load.seq, causal=False)
    return [*trunk, *token_head(recipe, model, whole, load.asked), *pairs]


def masked_load(recipe: Recipe, rows: int, length: int) -> Load:
    """Say how many places are hidden, and how many a masked autoencoder sees."""
    settings = recipe.pretraining
    end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
    inside = max(1, length - 2)
    hidden = max(1, round(inside * (settings.mask + end) / 2))
    asked = rows * hidden
    if settings.objective == "hybrid":
        forward = round(rows * settings.causal_share)
        asked = (rows - forward) * hidden + forward * (length - 1)
    return Load(rows, length, asked=asked, kept=length - hidden)


class MaskedCost(Cost):
    """Masked tokens in windows."""

    windows = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        return masked_words(recipe, facts, load)

    @classmethod
    def typical_load(cls, recipe: Recipe, length: int) -> Load:
        return masked_load(recipe, rows_of_shard(recipe, length), length)


class DocumentCost(Cost):
    """Words of a document from another part of it."""

    long_texts = True

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        """Enter a classifier of documents: every word is a label of the text."""
        return labels(recipe, facts._replace(labels=facts.vocabulary), load)


class DocumentVectorsCost(Cost):
    """Vectors of documents; their account is not written yet."""

    long_texts = True
