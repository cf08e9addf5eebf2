"""``[model.head]``: the output layer."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat

from regard.recipe.settings import Hundreds, Millions, Settings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class HopSettings(Settings):
    """The hops of ``pooling = "hops"``: the structured embedding M = A·H (Lin et al. 2017)."""

    hops: Hundreds = 8
    """Number of attention hops; the paper has 30."""
    features: Millions = 64
    """Size of the attention space of the hops; the paper has 350."""
    penalty: Literal["none", "frobenius", "off-diagonal", "kl"] = "frobenius"
    """Penalty for similar hops: ‖A·Aᵀ - I‖², its off-diagonal part, the negative KL divergence of
    the hops, or none."""
    penalty_weight: NonNegativeFloat = 0.3
    """Weight of the penalty relative to the cross-entropy of one text."""
    narrow: Literal["none", "dense", "pruned"] = "none"
    """Layer between M and the labels: none, a dense layer over all of M, or a pruned one with
    separate outputs for each row and column of M."""
    dense: Millions = 256
    """``narrow = "dense"``: output size of the layer; the paper has up to 3,000."""
    row_features: Millions = 16
    """``narrow = "pruned"``: outputs per row of M, that is per hop."""
    column_features: Millions = 2
    """``narrow = "pruned"``: outputs per column of M, that is per feature of a state."""


class HeadSettings(Settings):
    """The output layer."""

    bias: bool = False
    """Whether the output layer has a bias per token."""
    transform: bool = False
    """Whether states pass a dense layer and a norm before the output layer, as in BERT."""
    pooling: Literal["cls", "first", "last", "mean", "max", "mean-max", "attention", "hops"] = (
        "mean"
    )
    """Pooling of a text's states: the first through a dense layer (BERT's [CLS]), the first or last
    state, mean, max, mean and max concatenated, learned attention, or several attention hops."""
    dropout: Share = 0.1
    """Dropout of the pooled state."""
    norm: bool = False
    """Whether the pooled state is normalised to mean 0 and variance 1."""
    hops: HopSettings = HopSettings()
