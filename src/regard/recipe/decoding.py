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

from regard.device import EXAMPLES, PATTERN
from regard.recipe.settings import Refused, Settings

ONLY = {
    "sample": ("temperature", "top_k", "top_p", "seed"),
    "beam": ("beam", "length_penalty", "coverage"),
}
"""Settings that have an effect with one method only."""


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
    seed: NonNegativeInt | None = None
    """``sample``: draws are derived from it; leave out for the recipe's own."""
    baseline_weight: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """Classification: share of the bag-of-n-grams baseline in the answer's log-probability."""
    max_length: PositiveInt = 200
    """The most tokens an answer may have."""
    extra_length: PositiveInt = 50
    """The most tokens an answer may be longer than its source (the 2017 paper)."""
    max_length_ratio: PositiveFloat | None = None
    """The most tokens an answer may have as a share of its source's; leave out for no such
    limit."""
    min_length: NonNegativeInt = 0
    """The fewest tokens an answer has, if it can go on at all."""
    min_length_ratio: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """The fewest tokens an answer has as a share of its source's."""
    no_repeat: NonNegativeInt = 0
    """Runs of this many tokens come only once in an answer (Paulus et al. 2018 have 3 words); 0
    lets them come again."""
    coverage: NonNegativeFloat = 0.0
    """``beam``, with ``model.copying``: what pointing again at what was pointed at before takes
    from a log-probability."""
    device: Annotated[str, Field(pattern=PATTERN, examples=EXAMPLES)] = "auto"
    """Where a finished run computes its answers, whatever it was trained on; ``auto`` takes the
    accelerator if there is one, else the processor."""
    lead: PositiveInt | None = None
    """Summarization: sentences at the beginning of a document that the baseline takes for its
    summary; leave out for the number whose length is nearest to the training summaries'."""

    @model_validator(mode="after")
    def _limits_leave_room(self) -> "DecodingSettings":
        if self.min_length > self.max_length:
            raise Refused(
                f"decoding.min_length = {self.min_length} is more than decoding.max_length = "
                f"{self.max_length}",
                f"Set min_length to at most {self.max_length}",
            )
        if self.max_length_ratio is not None and self.min_length_ratio > self.max_length_ratio:
            raise Refused(
                f"decoding.min_length_ratio = {self.min_length_ratio:g} is more than "
                f"decoding.max_length_ratio = {self.max_length_ratio:g}",
                "Set min_length_ratio to at most the other",
            )
        return self
