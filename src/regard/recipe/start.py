"""``[model.start]``: where the parameters begin."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, model_validator

from regard.recipe.settings import Refused, Settings


class StartSettings(Settings):
    """Where the parameters begin."""

    run: str | None = None
    """Folder of the run whose body and tokenizer are carried over; leave out to begin at random."""
    carry: Literal["body", "embedding"] = "body"
    """What is carried over from that run: the whole body, or its table of tokens alone."""
    freeze: bool = False
    """Whether what was carried over stays as it is, so that only the new parts learn."""
    unfreeze_after: NonNegativeFloat | None = None
    """``freeze``: epochs after which the carried parts learn too; leave out for never."""
    layer_decay: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Share of the rate at which each carried layer learns, of that of the layer above it."""
    imported: str | None = None
    """Folder that `regard import` took the parameters from; only that verb writes this."""
    lexicon: bool = False
    """Translation: begin with a word-for-word lexicon, learned from the pairs in seconds."""

    @model_validator(mode="after")
    def _what_is_frozen_was_carried(self) -> "StartSettings":
        if self.run is not None and self.imported is not None:
            raise Refused(
                "model.start.imported and model.start.run both say where the parameters begin",
                "Take imported out: `regard import` alone writes it",
            )
        if self.run is not None and self.lexicon:
            raise Refused(
                "model.start.lexicon and model.start.run both say where the table of tokens begins",
                "Set lexicon to false, or take run out",
            )
        return self
