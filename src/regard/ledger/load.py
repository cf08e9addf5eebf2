"""What a recipe alone does not determine: the vocabulary, and the shape of a batch."""

from typing import NamedTuple

from regard.ledger.entry import Seq

TYPICAL = 32
"""Assumed tokens of a text: a sentence."""


DOCUMENT = 256
"""Assumed tokens of a document."""


MARKS = 2
"""[CLS] and [SEP]."""


class Facts(NamedTuple):
    """What the data or the run determines, or what is assumed instead."""

    vocabulary: int
    """Tokens in the vocabulary."""
    output_vocabulary: int
    """Tokens that can be predicted: all, or those that occur on the target side."""
    labels: int = 2
    """Logits of a label head."""
    assumed: tuple[str, ...] = ()
    """The assumptions, in words."""


class Sentences(NamedTuple):
    """The sentences of some documents, as a model that reads by sentences batches them."""

    groups: tuple[Seq, ...]
    """Batches of sentences, each padded to its own longest; longer ones later."""
    counts: tuple[int, ...]
    """How many documents have a first sentence, how many a second, and so on."""

    @property
    def padded(self) -> Seq:
        """All of them, padded to the longest."""
        return Seq(sum(self.counts), self.groups[-1].length)


class Load(NamedTuple):
    """The batch of one shard of one step."""

    rows: int
    """Texts in the batch; in retrieval, documents."""
    length: int
    """Tokens of a text; in a pair, of the source."""
    target_length: int = 0
    """Tokens of a target text, as in translation."""
    targets: int = 0
    """Predicted positions in the batch, such as masked ones; 0 for all."""
    sampled: int = 0
    """Tokens in a sampled softmax; 0 for a full one."""
    visible: int = 0
    """Positions of a row that a masked autoencoder encodes."""
    queries: Seq = Seq(0, 0)
    """Queries, in retrieval."""
    sentences: Sentences | None = None
    """The sentences of a real batch, where the model reads by sentences."""

    @property
    def seq(self) -> Seq:
        """The input texts."""
        return Seq(self.rows, self.length)

    def split(self, parts: int) -> "Load":
        """Return one of several parts of about the same size."""

        def share(number: int) -> int:
            return max(1, number // parts) if number else 0

        def share_rows(seq: Seq) -> Seq:
            return Seq(share(seq.rows), seq.length)

        sentences = self.sentences and Sentences(
            tuple(map(share_rows, self.sentences.groups)), tuple(map(share, self.sentences.counts))
        )
        return self._replace(
            rows=share(self.rows),
            targets=share(self.targets),
            queries=share_rows(self.queries),
            sentences=sentences,
        )


def expected_distinct(vocabulary: int, tokens: int) -> int:
    """Return the expected number of distinct tokens in a text under Zipf's law."""
    ranks = range(1, vocabulary + 1)
    total = sum(1 / rank for rank in ranks)
    return round(sum(1 - (1 - 1 / (rank * total)) ** tokens for rank in ranks))
