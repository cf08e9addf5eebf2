"""``[model.start]``: initialisation and transfer learning."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, model_validator

from regard.recipe.settings import Refused, Settings


class StartSettings(Settings):
    """Initialisation and transfer learning."""

    run: str | None = None
    """Folder of a run whose body and tokenizer are transferred; leave out for random
    initialisation."""
    carry: Literal["body", "embedding"] = "body"
    """What is transferred: the whole body, or the token embeddings only."""
    freeze: bool = False
    """Whether the transferred parameters are frozen, so that only the new ones are trained."""
    unfreeze_after: NonNegativeFloat | None = None
    """``freeze``: number of epochs after which the transferred parameters are unfrozen; leave out
    for never."""
    layer_decay: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Layer-wise learning-rate decay: factor of the learning rate from each transferred layer to
    the one below it."""
    imported: str | None = None
    """Folder that `regard import` took the parameters from; written by that command only."""
    lexicon: bool = False
    """Translation: initialise the embeddings with a word-for-word lexicon, learned from the pairs
    in seconds."""

    @model_validator(mode="after")
    def _check_one_initialisation(self) -> "StartSettings":
        if self.run is not None and self.imported is not None:
            raise Refused(
                "model.start.imported and model.start.run both set the initial parameters",
                "Take imported out: `regard import` alone writes it",
            )
        if self.run is not None and self.lexicon:
            raise Refused(
                "model.start.lexicon and model.start.run both initialise the embeddings",
                "Set lexicon to false, or take run out",
            )
        return self
