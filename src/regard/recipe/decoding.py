"""``[decoding]``: how probabilities become an answer."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    model_validator,
)

from regard.device import EXAMPLES, PATTERN
from regard.recipe.settings import (
    Hundreds,
    Millions,
    NoneToHundreds,
    NoneToMillions,
    Refused,
    Seed,
    Settings,
)

ONLY = {
    "sample": ("temperature", "top_k", "top_p", "seed"),
    "beam": ("beam", "length_penalty", "coverage"),
}
"""Settings that have an effect with one method only."""


class DecodingSettings(Settings):
    """Decoding: how probabilities become an answer."""

    method: Literal["greedy", "sample", "beam"] = "beam"
    """Greedy search, sampling, or beam search."""
    beam: Hundreds = 5
    """Beam size of beam search."""
    length_penalty: NonNegativeFloat = 0.6
    """Exponent α of the length penalty ((5 + length) / 6)^α (Wu et al. 2016); a higher one prefers
    longer answers."""
    temperature: PositiveFloat = 1.0
    """``sample``: temperature; below 1 sharpens the distribution, above 1 flattens it."""
    top_k: NoneToMillions = 0
    """``sample``: top-k sampling, among this many most probable tokens; 0 for all."""
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """``sample``: nucleus (top-p) sampling, among the most probable tokens that together have this
    probability."""
    seed: Seed | None = None
    """``sample``: random seed; leave out for the recipe's own."""
    baseline_weight: Literal["fitted"] | Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """Classification: weight of the bag-of-n-grams baseline in an ensemble with the network
    (log-linear interpolation); ``fitted`` fits it on the held-out texts when training ends."""
    threshold: Literal["fitted"] | Annotated[float, Field(ge=0.0, le=1.0)] = "fitted"
    """Several labels: probability above which a label is answered; ``fitted`` chooses one for each
    label by its F1 on the held-out texts when training ends."""
    max_length: Millions = 200
    """Maximum number of tokens of an answer."""
    extra_length: Millions = 50
    """Maximum number of tokens by which an answer may exceed its source (the 2017 paper)."""
    max_length_ratio: PositiveFloat | None = None
    """Maximum length of an answer as a multiple of its source's; leave out for no such limit."""
    min_length: NoneToMillions = 0
    """Minimum number of tokens of an answer."""
    min_length_ratio: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """Minimum length of an answer as a share of its source's."""
    no_repeat: NoneToHundreds = 0
    """N-gram blocking: n-grams of this many tokens may not repeat in an answer (Paulus et al. 2018
    block trigrams of words); 0 allows repetition."""
    coverage: NonNegativeFloat = 0.0
    """``beam``, with ``model.copying``: coverage penalty on log-probabilities for attending to the
    same source token again."""
    device: Annotated[str, Field(pattern=PATTERN, examples=EXAMPLES)] = "auto"
    """Device for inference, whatever the run was trained on; ``auto`` takes the accelerator if
    there is one, else the CPU."""
    engine: Literal["torch", "ctranslate2", "auto"] = "torch"
    """Library that computes the answers of ``predict``, ``evaluate`` and ``serve``: the same
    answers, several times faster. ``ctranslate2`` needs the extra of this name and a recipe that it
    can express; ``auto`` takes it where both are there, else torch."""
    quantization: Literal["none", "int8"] = "none"
    """``ctranslate2``: whether to compute in 8-bit integers. Faster, but some answers differ."""
    lead: Hundreds | None = None
    """Summarization: number of leading sentences in the lead baseline; leave out for the number
    whose length is closest to the training summaries'."""

    @model_validator(mode="after")
    def _check_engine(self) -> "DecodingSettings":
        if self.engine == "ctranslate2" and self.method == "sample":
            raise Refused(
                'decoding.engine "ctranslate2" searches, but decoding.method is "sample"',
                'Set engine to "torch", or method to "greedy" or "beam"',
            )
        return self

    @model_validator(mode="after")
    def _check_limits(self) -> "DecodingSettings":
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
                "Set min_length_ratio to at most max_length_ratio",
            )
        return self
