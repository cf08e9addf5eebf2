"""``[model.head]``: how states become answers."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from regard.recipe.settings import Settings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class HopSettings(Settings):
    """The looks of ``pooling = "hops"``: the structured embedding M = A·H (Lin et al. 2017)."""

    hops: PositiveInt = 8
    """How many looks are taken at a text; the paper takes 30."""
    features: PositiveInt = 64
    """Size of the space in which looks meet words; the paper's is 350."""
    penalty: Literal["none", "frobenius", "off-diagonal", "kl"] = "frobenius"
    """What is lost by looks that are alike: ‖A·Aᵀ - I‖², its part off the diagonal, the looks'
    negative KL divergence, or nothing."""
    penalty_weight: NonNegativeFloat = 0.3
    """How much that counts beside the cross entropy of one text."""
    narrow: Literal["none", "dense", "pruned"] = "none"
    """What stands between M and the labels: nothing, a dense layer over all of M, or one in which
    each row of M has outputs of its own, and each column."""
    dense: PositiveInt = 256
    """``narrow = "dense"``: outputs of the layer; the paper has up to 3,000."""
    row_features: PositiveInt = 16
    """``narrow = "pruned"``: outputs of each row, that is of each look."""
    column_features: PositiveInt = 2
    """``narrow = "pruned"``: outputs of each column, that is of each feature of a state."""


class HeadSettings(Settings):
    """How states become answers."""

    bias: bool = False
    """Whether every token has a bias of its own when it is written."""
    transform: bool = False
    """Whether states pass a dense layer and a norm before they are compared, as BERT's do."""
    pooling: Literal["cls", "first", "last", "mean", "max", "mean-max", "attention", "hops"] = (
        "mean"
    )
    """How the states of a text become one: the first through a dense layer (BERT's [CLS]), the
    first or last as it is, their mean, their maximum, both, a learned look, or several of them."""
    dropout: Share = 0.1
    """Share of the pooled state dropped while training, before it becomes a label."""
    norm: bool = False
    """Whether the pooled state is brought to mean 0 and variance 1 before it becomes a label."""
    hops: HopSettings = HopSettings()
