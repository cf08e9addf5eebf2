"""``[model.documents]``: documents of several sentences."""

from typing import Literal

from regard.recipe.settings import Hundreds, Millions, Settings


class DocumentSettings(Settings):
    """Documents as one sequence, or hierarchically, sentence by sentence (Yang et al. 2016)."""

    read: Literal["whole", "sentences"] = "whole"
    """One sequence of tokens, or a hierarchy: words form sentences, sentences the document
    (HAN)."""
    words: Millions = 64
    """Maximum number of tokens of a sentence; longer ones are split."""
    depth: Hundreds = 1
    """Number of blocks over sentences; ``model.depth`` is the number over words."""
    mixer: Literal["same", "attention", "gru", "lstm"] = "same"
    """Mixer over sentences: the same as over words, or another. With attention, sentence positions
    use ``model.position``."""
    context: Literal["none", "earlier", "both"] = "none"
    """Which other sentences influence the attention to words: none (HAN), the preceding ones, or
    both sides (context-aware HAN, Remy et al. 2019)."""
    gather: Literal["sum", "mean"] = "mean"
    """``context``: how the vectors of the other sentences are combined."""
    gated: bool = False
    """``context``: whether a gate per word weighs the context."""
