"""A recipe: everything a run needs to know, in one file."""

from typing import Literal

from pydantic import NonNegativeInt, model_validator

from regard.recipe.data import DataSettings
from regard.recipe.decoding import DecodingSettings
from regard.recipe.model import LearnedSettings, ModelSettings, RelativeSettings
from regard.recipe.settings import Refused, Settings
from regard.recipe.text import TextSettings
from regard.recipe.training import TrainingSettings


class Recipe(Settings):
    """Everything a run needs to know."""

    task: Literal["translation"]
    """What the model is to answer."""
    seed: NonNegativeInt = 1
    """Every random choice is derived from it: the same recipe and seed give the same run."""
    text: TextSettings = TextSettings()
    data: DataSettings
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()

    @model_validator(mode="after")
    def _texts_fit_the_positions(self) -> "Recipe":
        place = self.model.position
        if not isinstance(place, RelativeSettings | LearnedSettings):
            return self
        if isinstance(place, RelativeSettings) and place.buckets is not None:
            return self
        if self.text.longest > place.positions:
            raise Refused(
                f"text.longest = {self.text.longest} lets in texts that model.position.positions "
                f"= {place.positions} cannot number",
                f"Set text.longest to at most {place.positions}, or give more positions",
            )
        return self
