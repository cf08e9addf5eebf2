"""What a step of a labelled task costs, and which sentences a batch of documents has."""

from regard.data.batch import Padded
from regard.ledger.blocks import body
from regard.ledger.documents import hierarchy
from regard.ledger.entry import Ledger, Seq
from regard.ledger.heads import label_head, label_logits
from regard.ledger.load import Facts, Load, Sentences
from regard.models.build.labels import MARKS
from regard.models.han import side_by_side, unfold
from regard.recipe.recipe import Recipe


def labels(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter a body, or words and sentences, and a head that tells labels."""
    model = recipe.model
    if model.documents.read == "sentences":
        told = label_logits(model.ends_in, facts.labels, load.rows)
        return [*hierarchy(model, facts, load), told]
    return [
        *body(model, facts, load.seq, causal=bool(model.causal)),
        *label_head(model, facts.labels, load.seq),
    ]


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
