"""``[denoising]``: corruption of documents that an encoder-decoder learns to reconstruct."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from regard.recipe.settings import Settings


class DenoisingSettings(Settings):
    """Corruption of documents; for the task denoising."""

    gaps: Literal["spans", "sentences"] = "spans"
    """Mask spans of tokens and generate the whole document (BART), or mask sentences and generate
    only them (PEGASUS)."""
    share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.3
    """Share of the tokens, or of the sentences, that is masked."""
    span: PositiveFloat = 3.0
    """``spans``: mean length of a span in tokens."""
