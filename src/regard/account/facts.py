"""What a recipe alone does not settle, and what goes through a model at once."""

from collections.abc import Sequence
from typing import NamedTuple

from regard.account.ledger import Seq
from regard.recipe.recipe import ENCODER_DECODERS, Recipe

TYPICAL = 32
"""Tokens of a text where nobody says: a sentence's worth."""


DOCUMENT = 256
"""And of a document."""


MARKS = 2
"""[CLS] and [SEP]."""


WINDOWS = ("language-modelling", "masked-pretraining")
"""Tasks that read pieces as long as they may be, whatever the texts are."""


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


class Sentences(NamedTuple):
    """The sentences of some documents, as a network of sentences reads them."""

    groups: tuple[Seq, ...]
    """Those read side by side, each group padded to its own longest; longer ones later."""
    places: tuple[int, ...]
    """How many documents have a first sentence, how many a second, and so on."""

    @property
    def table(self) -> Seq:
        """All of them, padded to the longest of all."""
        return Seq(sum(self.places), self.groups[-1].length)


class Load(NamedTuple):
    """What goes through the model at once: one shard of one step."""

    rows: int
    """Texts side by side; in retrieval, those that answer."""
    length: int
    """Tokens of a text; in a pair, of the source."""
    written: int = 0
    """Tokens of an answer: in translation, of the target."""
    asked: int = 0
    """Places asked about, over all rows: in masked pretraining those that are hidden; elsewhere 0
    stands for all."""
    told: int = 0
    """Different tokens asked for, where they are told from each other only; elsewhere 0."""
    kept: int = 0
    """Places of a row that a masked autoencoder sees."""
    asking: Seq = Seq(0, 0)
    """Texts that ask, in retrieval."""
    sentences: Sentences | None = None
    """Where a batch was looked at, and is read by sentences."""

    @property
    def seq(self) -> Seq:
        """The texts that are read."""
        return Seq(self.rows, self.length)

    def parted(self, parts: int) -> "Load":
        """Return one of several parts of about the same size."""

        def some(number: int) -> int:
            return max(1, number // parts) if number else 0

        def fewer(seq: Seq) -> Seq:
            return Seq(some(seq.rows), seq.length)

        sentences = self.sentences and Sentences(
            tuple(map(fewer, self.sentences.groups)), tuple(map(some, self.sentences.places))
        )
        return self._replace(
            rows=some(self.rows),
            asked=some(self.asked),
            asking=fewer(self.asking),
            sentences=sentences,
        )


def facts_of(recipe: Recipe, *, vocabulary: int | None = None) -> Facts:
    """Say what must be assumed of a recipe; ``vocabulary`` where the data has said how many."""
    size, assumed = vocabulary or recipe.text.vocabulary, []
    if vocabulary is None:
        assumed.append(f"a vocabulary of text.vocabulary = {size:,} tokens (a run knows its own)")
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


def told_lengths(recipe: Recipe, loads: Sequence[Load], source: str) -> tuple[str, ...]:
    """Say how long the texts of batches are, and where they are from; windows are as they are."""
    if recipe.task in WINDOWS:
        return ()
    sides = [[load.seq for load in loads]]
    if recipe.task in ENCODER_DECODERS:
        sides.append([Seq(load.rows, load.written) for load in loads])
    elif recipe.task == "retrieval":
        sides.insert(0, [load.asking for load in loads])
    means = [sum(seq.tokens for seq in side) / sum(seq.rows for seq in side) for side in sides]
    counts = " and ".join(f"{mean:,.0f}" for mean in means)
    return (f"lengths as in {source}: {counts} tokens on average",)


def unread(recipe: Recipe, length: int | None, why: str) -> tuple[Facts, Load]:
    """Say what must be assumed of a recipe whose data is not read, and ``why`` it is not."""
    facts, load = facts_of(recipe), load_of(recipe, length)
    if length or recipe.task in WINDOWS:
        return facts, load
    words = f"texts of {load.length} tokens, as {why}"
    return facts._replace(assumed=(*facts.assumed, words)), load


def load_of(recipe: Recipe, length: int | None = None) -> Load:
    """Say what one shard of a step holds, of texts with ``length`` tokens."""
    length = length or default_length(recipe)
    answers = 1 + recipe.retrieval.hard_negatives if recipe.task == "retrieval" else 1
    rows = max(1, recipe.training.batch_tokens // (length * answers))
    rows = max(1, rows // recipe.training.shards)
    if recipe.task == "retrieval":
        asking = Seq(rows, min(length, recipe.retrieval.query_length[1] + MARKS))
        return Load(rows * answers, length, asking=asking)
    if recipe.task != "masked-pretraining":
        told = 0
        if recipe.training.softmax == "sampled":
            told = distinct(recipe.text.vocabulary, rows * length)
        return Load(rows, length, written=default_written(recipe, length), told=told)
    settings = recipe.pretraining
    end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
    inside = max(1, length - 2)
    hidden = max(1, round(inside * (settings.mask + end) / 2))
    asked = rows * hidden
    if settings.objective == "hybrid":
        forward = round(rows * settings.causal_share)
        asked = (rows - forward) * hidden + forward * (length - 1)
    return Load(rows, length, asked=asked, kept=length - hidden)


def distinct(vocabulary: int, tokens: int) -> int:
    """Say how many different tokens a text has, about: the nth is written 1/n as often (Zipf)."""
    ranks = range(1, vocabulary + 1)
    whole = sum(1 / rank for rank in ranks)
    return round(sum(1 - (1 - 1 / (rank * whole)) ** tokens for rank in ranks))


def default_length(recipe: Recipe) -> int:
    """Windows are as long as they may be; other texts a document's or a sentence's worth.

    Documents are what is read as such, and what is expected to be too long to be read whole.
    """
    if recipe.task in WINDOWS:
        return recipe.text.max_length
    if recipe.task == "retrieval":
        return min(recipe.text.max_length, recipe.retrieval.document_length[1] + MARKS)
    documents = recipe.task in ("summarization", "denoising", "document-pretraining")
    documents = documents or recipe.text.overlong in ("head-tail", "windows")
    if documents or recipe.model.documents.read == "sentences":
        return min(recipe.text.max_length, DOCUMENT)
    return min(recipe.text.max_length, TYPICAL)


def default_written(recipe: Recipe, length: int) -> int:
    """Return how long an answer to a text of ``length`` tokens is: a summary is a sentence."""
    return min(length, TYPICAL) if recipe.task == "summarization" else length
