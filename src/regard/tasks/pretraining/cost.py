"""Cost of a pretraining step: a body, and the heads of its objective."""

from regard.ledger.blocks import body
from regard.ledger.entry import Ledger, Seq, rename_part
from regard.ledger.heads import light_decoder, pair_head, replaced_head, token_head
from regard.ledger.load import Facts, Load
from regard.recipe.recipe import Recipe
from regard.recipe.scaled_settings import scale_generator, scale_light_decoder
from regard.tasks.cost import Cost, rows_of_shard
from regard.tasks.labelling.cost import labels


def masked_words(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Count the parts that an objective trains."""
    model, settings = recipe.model, recipe.pretraining
    pairs = pair_head(model, load.seq) if settings.pairs != "none" else []
    whole = facts._replace(output_vocabulary=facts.vocabulary)
    if settings.objective == "replaced":
        small = scale_generator(model, settings)
        generator = [
            *body(small, whole, load.seq, causal=False),
            *token_head(recipe, small, whole, load.targets, generates=True),
        ]
        trunk = body(model, whole, load.seq, causal=False)
        head = replaced_head(model, load.seq)
        return [*rename_part(generator, "generator", body=False), *trunk, *head, *pairs]
    if settings.objective == "autoencoder":
        light = scale_light_decoder(model, settings)
        visible = Seq(load.rows, load.visible)
        decoder = light_decoder(model, light, visible, load.seq)
        trunk = body(model, whole, visible, causal=False)
        return [*trunk, *decoder, *token_head(recipe, model, whole, load.targets)]
    trunk = body(model, whole, load.seq, causal=False)
    return [*trunk, *token_head(recipe, model, whole, load.targets), *pairs]


def masked_load(recipe: Recipe, rows: int, length: int) -> Load:
    """Return the numbers of masked positions and of those that a masked autoencoder encodes."""
    settings = recipe.pretraining
    end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
    inside = max(1, length - 2)
    masked = max(1, round(inside * (settings.mask + end) / 2))
    targets = rows * masked
    if settings.objective == "hybrid":
        causal = round(rows * settings.causal_share)
        targets = (rows - causal) * masked + causal * (length - 1)
    return Load(rows, length, targets=targets, visible=length - masked)


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
        """Count a classifier of documents: every token of the vocabulary is a label."""
        return labels(recipe, facts._replace(labels=facts.vocabulary), load)


class DocumentVectorsCost(Cost):
    """Vectors of documents, which have no account yet."""

    long_texts = True
