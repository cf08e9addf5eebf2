"""``[model.documents]``: texts of several sentences."""

from typing import Literal

from pydantic import PositiveInt

from regard.recipe.settings import Settings


class DocumentSettings(Settings):
    """Whether a text is read as one sequence, or sentence by sentence (Yang et al. 2016)."""

    read: Literal["whole", "sentences"] = "whole"
    """As one sequence of tokens; or words make sentences, and sentences the document (HAN)."""
    words: PositiveInt = 64
    """The most tokens one sentence may have; a longer one is read as several."""
    depth: PositiveInt = 1
    """Number of blocks among sentences; ``model.depth`` is their number among words."""
    mixer: Literal["same", "attention", "gru", "lstm"] = "same"
    """What mixes sentences: the same as words, or another; their positions are ``model.position``'s
    where that is attention."""
    context: Literal["none", "earlier", "both"] = "none"
    """Which other sentences decide where a sentence is looked at: none, as in HAN; those before it,
    or those before and after it (Remy et al. 2019)."""
    gather: Literal["sum", "mean"] = "mean"
    """``context``: how the vectors of the other sentences become one."""
    gated: bool = False
    """``context``: whether each word weighs itself against the context."""
