"""``[decoding]``: how probabilities become an answer."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from regard.recipe.settings import Refused, Settings


class DecodingSettings(Settings):
    """How probabilities become an answer."""

    method: Literal["greedy", "sample", "beam"] = "beam"
    """Take the likeliest token each time, draw one, or keep several beginnings in play."""
    beam: PositiveInt = 5
    """How many beginnings are kept in play."""
    length_penalty: NonNegativeFloat = 0.6
    """Exponent α of ((5 + length) / 6)^α, by which a log-probability is divided; higher: longer."""
    temperature: PositiveFloat = 1.0
    """``sample``: below 1 sharpens the choice, above 1 flattens it."""
    top_k: NonNegativeInt = 0
    """``sample``: choose among this many likeliest tokens; 0 for all."""
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """``sample``: choose among the likeliest tokens that together hold this probability."""
    baseline: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """Classification: share of the bag-of-n-grams baseline in the answer's log-probability."""
    longest: PositiveInt = 200
    """The most tokens an answer may have."""
    extra_length: PositiveInt = 50
    """The most tokens an answer may be longer than its source (the 2017 paper)."""

    @model_validator(mode="after")
    def _sampling_is_asked_for(self) -> "DecodingSettings":
        asked = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
        for name, neutral in asked.items():
            if self.method != "sample" and getattr(self, name) != neutral:
                raise Refused(
                    f"decoding.{name} = {getattr(self, name)} has no effect while "
                    f'decoding.method is "{self.method}"',
                    f'Set the method to "sample", or take {name} out',
                )
        return self
