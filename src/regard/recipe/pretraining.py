"""``[pretraining]``: what a body learns from plain text, before anyone tells it a label."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from regard.recipe.settings import Refused, Settings

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Some = Annotated[float, Field(gt=0.0, lt=1.0)]


class PretrainingSettings(Settings):
    """What a body learns from plain text; for the task masked-pretraining."""

    objective: Literal["masked", "replaced", "autoencoder", "hybrid"] = "masked"
    """Guess masked words, tell replaced words, rebuild what the encoder never saw, or guess masked
    words and next words by turns with one body."""
    pairs: Literal["next-sentence", "sentence-order", "none"] = "none"
    """What is asked of two spans beside it: does B follow A, do they stand in order, or nothing."""
    mask: Some = 0.15
    """Share of the tokens that are masked (or replaced)."""
    mask_at_end: Some | None = None
    """The share at the end of training, reached along a line; leave out to keep it the same."""
    masked_as: tuple[Share, Share, Share] = (0.8, 0.1, 0.1)
    """Of the masked tokens, the shares that become [MASK], a random token, and stay as they are."""
    whole_words: bool = False
    """Whether all pieces of a word are masked together."""
    causal_share: Some = 0.0625
    """``hybrid``: share of the rows that guess the next word instead of masked ones."""
    decoder_width: PositiveInt | None = None
    """``autoencoder``: width of the light decoder; leave out for half of ``model.width``."""
    blind_masks: bool = False
    """``autoencoder``: whether masks enter the decoder without their positions (an experiment)."""
    generator_width: PositiveInt | None = None
    """``replaced``: width of the small model that proposes words; leave out for a quarter."""

    @model_validator(mode="after")
    def _shares_add_up(self) -> "PretrainingSettings":
        if abs(sum(self.masked_as) - 1.0) > 1e-6:
            raise Refused(
                f"pretraining.masked_as must add up to 1; {list(self.masked_as)} adds up to "
                f"{sum(self.masked_as):g}",
                "The paper's shares are [0.8, 0.1, 0.1]",
            )
        return self

    @model_validator(mode="after")
    def _settings_speak_to_their_objective(self) -> "PretrainingSettings":
        for name in ("generator_width", "decoder_width"):
            width = getattr(self, name)
            if width is not None and width % 2:
                raise Refused(
                    f"pretraining.{name} must be even, as positions come in pairs of waves; "
                    f"{width} is not",
                    f"The next one that fits is {width + 1}",
                )
        if self.pairs != "none" and self.objective in ("autoencoder", "hybrid"):
            raise Refused(
                f'pretraining.pairs = "{self.pairs}" needs two spans in one row, which '
                f'pretraining.objective "{self.objective}" does not make',
                'Set pairs to "none", or the objective to "masked" or "replaced"',
            )
        return self
