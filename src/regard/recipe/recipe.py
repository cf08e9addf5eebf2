"""A recipe: everything a run needs to know, in one file."""

from typing import Literal

from pydantic import NonNegativeInt, model_validator

from regard.recipe.data import DataSettings
from regard.recipe.decoding import DecodingSettings
from regard.recipe.model import (
    LearnedSettings,
    ModelSettings,
    RelativeSettings,
    SinusoidalSettings,
)
from regard.recipe.pretraining import PretrainingSettings
from regard.recipe.settings import Refused, Settings
from regard.recipe.text import TextSettings
from regard.recipe.training import TrainingSettings


class Recipe(Settings):
    """Everything a run needs to know."""

    task: Literal[
        "translation",
        "language-modelling",
        "masked-pretraining",
        "classification",
        "sentence-pair",
    ]
    """What the model is to answer."""
    seed: NonNegativeInt = 1
    """Every random choice is derived from it: the same recipe and seed give the same run."""
    text: TextSettings = TextSettings()
    data: DataSettings
    model: ModelSettings = ModelSettings()
    pretraining: PretrainingSettings = PretrainingSettings()
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

    @model_validator(mode="after")
    def _pretraining_is_asked_for(self) -> "Recipe":
        if self.task != "masked-pretraining":
            if self.pretraining != PretrainingSettings():
                raise Refused(
                    f'the table [pretraining] has no effect while task is "{self.task}"',
                    'Set task to "masked-pretraining", or take the table out',
                )
            return self
        objective, position = self.pretraining.objective, self.model.position
        if objective == "autoencoder" and not isinstance(
            position, SinusoidalSettings | LearnedSettings
        ):
            raise Refused(
                'pretraining.objective "autoencoder" tells places apart by positions on the '
                f'states, but model.position.kind is "{position.kind}"',
                'Set model.position.kind to "sinusoidal" or "learned"',
            )
        if objective == "hybrid" and self.model.mixer.kind != "attention":
            raise Refused(
                'pretraining.objective "hybrid" hides the future in some rows only, which only '
                f'attention can; model.mixer.kind is "{self.model.mixer.kind}"',
                'Set model.mixer.kind to "attention", or the objective to "masked"',
            )
        if self.model.causal:
            raise Refused(
                "masked-pretraining guesses from both sides, but model.causal is true",
                'Take causal out, or set task to "language-modelling"',
            )
        if self.pretraining.pairs != "none" and self.model.embedding.segments == 1:
            raise Refused(
                "pairs have two spans, but model.embedding.segments is 1",
                "Set segments to 2, or to 0 to tell the spans apart by [SEP] alone",
            )
        return self
