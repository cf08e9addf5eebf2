"""``[denoising]``: what is taken out of documents that an encoder-decoder learns to write again."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from regard.recipe.settings import Settings


class DenoisingSettings(Settings):
    """What is taken out of documents; for the task denoising."""

    gaps: Literal["spans", "sentences"] = "spans"
    """Runs of tokens, and the whole is written again (BART), or whole sentences, and only they are
    written (PEGASUS)."""
    share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.3
    """Share of the tokens, or of the sentences, that is taken out."""
    span: PositiveFloat = 3.0
    """``spans``: their mean length in tokens."""
