"""The small models beside a large one: ELECTRA's generator, a masked autoencoder's decoder.

Both are the model's own settings, made narrower; torch is not needed to say how.
"""

from regard.recipe.model import AttentionSettings, ModelSettings
from regard.recipe.pretraining import PretrainingSettings


def generator_of(settings: ModelSettings, pretraining: PretrainingSettings) -> ModelSettings:
    """Return the generator's settings: a quarter of the width unless it is said."""
    quarter = max(2, settings.width // 8 * 2)
    return narrower(settings, pretraining.generator_width or quarter)


def light_decoder_of(settings: ModelSettings, pretraining: PretrainingSettings) -> ModelSettings:
    """Return the light decoder's settings: half of the width unless it is said."""
    half = max(2, settings.width // 4 * 2)
    return narrower(settings, pretraining.decoder_width or half)


def narrower(settings: ModelSettings, width: int) -> ModelSettings:
    """Shrink a model to ``width``: heads of about the same size, but fewer."""
    changes: dict[str, object] = {
        "width": width,
        "feed_forward": max(1, settings.feed_forward * width // settings.width),
    }
    if isinstance(settings.mixer, AttentionSettings):
        features = settings.width // settings.mixer.heads
        fitting = [h for h in range(1, max(1, width // features) + 1) if width % (2 * h) == 0]
        changes["mixer"] = settings.mixer.model_copy(update={"heads": max(fitting, default=1)})
    return settings.model_copy(update=changes)
