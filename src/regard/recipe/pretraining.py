"""``[pretraining]``: the pretraining objective on plain text."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.recipe.settings import Millions, Refused, Settings

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Some = Annotated[float, Field(gt=0.0, lt=1.0)]


class PretrainingSettings(Settings):
    """Pretraining objective on plain text; for the task masked-pretraining."""

    objective: Literal["masked", "replaced", "autoencoder", "hybrid"] = "masked"
    """Masked language modelling (BERT), replaced-token detection (ELECTRA), a masked autoencoder
    (MAE), or masked and causal language modelling in turn with one body (GPT-BERT)."""
    pairs: Literal["next-sentence", "sentence-order", "none"] = "none"
    """Additional sentence-pair objective: next-sentence prediction (BERT), sentence-order
    prediction (ALBERT), or none."""
    mask: Some = 0.15
    """Masking rate: share of the tokens that are masked (or replaced)."""
    mask_at_end: Some | None = None
    """Masking rate at the end of training, reached linearly; leave out to keep it constant."""
    masked_as: tuple[Share, Share, Share] = (0.8, 0.1, 0.1)
    """Shares of the masked tokens that become [MASK], a random token, and stay unchanged."""
    whole_words: bool = False
    """Whole-word masking: whether all pieces of a word are masked together."""
    causal_share: Some = 0.0625
    """``hybrid``: share of the rows trained on next-token prediction."""
    decoder_width: Millions | None = None
    """``autoencoder``: width of the light decoder; leave out for half of ``model.width``."""
    blind_masks: bool = False
    """``autoencoder``: whether mask tokens enter the decoder without positions (an experiment)."""
    generator_width: Millions | None = None
    """``replaced``: width of the generator; leave out for a quarter of ``model.width``."""

    @model_validator(mode="after")
    def _check_shares_add_up(self) -> "PretrainingSettings":
        if abs(sum(self.masked_as) - 1.0) > 1e-6:
            raise Refused(
                f"pretraining.masked_as must add up to 1; {list(self.masked_as)} adds up to "
                f"{sum(self.masked_as):g}",
                "The paper's shares are [0.8, 0.1, 0.1]",
            )
        return self

    @model_validator(mode="after")
    def _check_objective(self) -> "PretrainingSettings":
        for name in ("generator_width", "decoder_width"):
            width = getattr(self, name)
            if width is not None and width % 2:
                raise Refused(
                    f"pretraining.{name} must be even, because sinusoids come in pairs; "
                    f"{width} is not",
                    f"The next one that fits is {width + 1}",
                )
        if self.pairs != "none" and self.objective in ("autoencoder", "hybrid"):
            raise Refused(
                f'pretraining.pairs = "{self.pairs}" needs two spans in one row; '
                f'pretraining.objective "{self.objective}" has one',
                'Set pairs to "none", or the objective to "masked" or "replaced"',
            )
        return self
