"""What a recipe alone does not settle, and what goes through a model at once."""

from typing import NamedTuple

from regard.ledger.entry import Seq

TYPICAL = 32
"""Tokens of a text where nobody says: a sentence's worth."""


DOCUMENT = 256
"""And of a document."""


MARKS = 2
"""[CLS] and [SEP]."""


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


def distinct(vocabulary: int, tokens: int) -> int:
    """Say how many different tokens a text has, about: the nth is written 1/n as often (Zipf)."""
    ranks = range(1, vocabulary + 1)
    whole = sum(1 / rank for rank in ranks)
    return round(sum(1 - (1 - 1 / (rank * whole)) ** tokens for rank in ranks))
