"""Scaled-down settings: ELECTRA's generator, the light decoder of a masked autoencoder.

Both are the model's own settings with a smaller width; computed without torch.
"""

from regard.recipe.model import AttentionSettings, ModelSettings
from regard.recipe.pretraining import PretrainingSettings


def scale_generator(settings: ModelSettings, pretraining: PretrainingSettings) -> ModelSettings:
    """Return the generator's settings: a quarter of the width by default."""
    quarter = max(2, settings.width // 8 * 2)
    return scale_width(settings, pretraining.generator_width or quarter)


def scale_light_decoder(settings: ModelSettings, pretraining: PretrainingSettings) -> ModelSettings:
    """Return the light decoder's settings: half of the width by default."""
    half = max(2, settings.width // 4 * 2)
    return scale_width(settings, pretraining.decoder_width or half)


def scale_width(settings: ModelSettings, width: int) -> ModelSettings:
    """Scale a model to ``width`` with fewer heads of about the same size."""
    changes: dict[str, object] = {
        "width": width,
        "feed_forward": max(1, settings.feed_forward * width // settings.width),
    }
    if isinstance(settings.mixer, AttentionSettings):
        features = settings.width // settings.mixer.heads
        fitting = [h for h in range(1, max(1, width // features) + 1) if width % (2 * h) == 0]
        changes["mixer"] = settings.mixer.model_copy(update={"heads": max(fitting, default=1)})
    return settings.model_copy(update=changes)
