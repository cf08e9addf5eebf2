"""What a recipe alone does not settle, and what goes through a model at once."""

from typing import NamedTuple

from regard.account.ledger import Seq
from regard.recipe.recipe import ENCODER_DECODERS, Recipe

TYPICAL = 32
"""Tokens of a text where nobody says: a sentence's worth."""


DOCUMENT = 256
"""And of a document."""


class Facts(NamedTuple):
    """What a recipe alone does not settle."""

    vocabulary: int
    """Tokens the tokenizer knows."""
    written: int
    """Tokens that can be written: all, or those seen on the target side."""
    labels: int = 2
    """Logits of a label head."""
    assumed: tuple[str, ...] = ()
    """What was assumed, in words."""


class Load(NamedTuple):
    """What goes through the model at once: one shard of one step."""

    rows: int
    length: int
    """Tokens of a text; in a pair, of the source."""
    written: int = 0
    """Tokens of an answer: in translation, of the target."""
    asked: int = 0
    """Places asked about, over all rows: in masked pretraining those that are hidden; elsewhere 0
    stands for all."""
    kept: int = 0
    """Places of a row that a masked autoencoder sees."""

    @property
    def seq(self) -> Seq:
        """The texts that are read."""
        return Seq(self.rows, self.length)


def facts_of(recipe: Recipe) -> Facts:
    """Say what must be assumed of a recipe whose data nobody has read yet."""
    size = recipe.text.vocabulary
    assumed = [f"a vocabulary of text.vocabulary = {size:,} tokens (a run knows its own)"]
    if recipe.model.writes == "seen" and recipe.task in (
        *ENCODER_DECODERS,
        "language-modelling",
    ):
        assumed.append("that every token can be written; those never seen will cost nothing")
    labels = 1 if recipe.data.scores else len(recipe.data.labels)
    if recipe.task in ("classification", "sentence-pair") and not labels:
        labels = 2
        assumed.append("two labels, as data.labels names none")
    if recipe.model.start.run:
        assumed.append("that [model] says all that would be taken from model.start.run")
    return Facts(size, size, labels or 2, tuple(assumed))


def load_of(recipe: Recipe, length: int | None = None) -> Load:
    """Say what one shard of a step holds, of texts with ``length`` tokens."""
    length = length or default_length(recipe)
    rows = max(1, recipe.training.batch_tokens // length)
    rows = max(1, rows // recipe.training.shards)
    if recipe.task != "masked-pretraining":
        return Load(rows, length, written=default_written(recipe, length))
    settings = recipe.pretraining
    end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
    inside = max(1, length - 2)
    hidden = max(1, round(inside * (settings.mask + end) / 2))
    asked = rows * hidden
    if settings.objective == "hybrid":
        forward = round(rows * settings.causal_share)
        asked = (rows - forward) * hidden + forward * (length - 1)
    return Load(rows, length, asked=asked, kept=length - hidden)


def default_length(recipe: Recipe) -> int:
    """Windows are as long as they may be; other texts a document's or a sentence's worth.

    Documents are what is read as such, and what is expected to be too long to be read whole.
    """
    if recipe.task in ("language-modelling", "masked-pretraining"):
        return recipe.text.longest
    if recipe.task == "retrieval":
        return min(recipe.text.longest, recipe.retrieval.answering[1] + 2)
    documents = recipe.task in ("summarization", "denoising", "document-pretraining")
    documents = documents or recipe.text.overlong in ("head-tail", "windows")
    if documents or recipe.model.documents.read == "sentences":
        return min(recipe.text.longest, DOCUMENT)
    return min(recipe.text.longest, TYPICAL)


def default_written(recipe: Recipe, length: int) -> int:
    """Return how long an answer to a text of ``length`` tokens is: a summary is a sentence."""
    return min(length, TYPICAL) if recipe.task == "summarization" else length
