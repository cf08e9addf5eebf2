"""Which sentences a batch of documents has."""

from regard.data.batch import Padded
from regard.ledger.entry import Seq
from regard.ledger.load import Sentences
from regard.models.build.labels import MARKS
from regard.models.han import side_by_side, unfold


def sentences_of(texts: Padded) -> Sentences:
    """Take documents apart as :class:`regard.models.han.Han` does."""
    unfolded = unfold(texts.ids, texts.lengths, marks=MARKS)
    if not len(unfolded.ids):
        return Sentences((Seq(0, 0),), ())
    groups = [unfolded.lengths[rows] for rows in side_by_side(unfolded)]
    return Sentences(
        tuple(Seq(len(lengths), int(lengths.max())) for lengths in groups),
        tuple(unfolded.place.bincount().tolist()),
    )
