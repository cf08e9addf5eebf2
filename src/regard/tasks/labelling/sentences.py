"""Shapes of the sentences in a batch of documents."""

from regard.data.batch import Padded
from regard.ledger.entry import Seq
from regard.ledger.load import Sentences
from regard.models.build.labels import SEPARATORS
from regard.models.han import group_by_length, unfold


def sentences_of(texts: Padded) -> Sentences:
    """Group sentences as :class:`regard.models.han.Han` does."""
    unfolded = unfold(texts.ids, texts.lengths, separators=SEPARATORS)
    if not len(unfolded.ids):
        return Sentences((Seq(0, 0),), ())
    groups = [unfolded.lengths[rows] for rows in group_by_length(unfolded)]
    return Sentences(
        tuple(Seq(len(lengths), int(lengths.max())) for lengths in groups),
        tuple(unfolded.place.bincount().tolist()),
    )
