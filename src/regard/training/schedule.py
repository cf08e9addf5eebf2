"""Learning-rate schedules, as functions of progress.

    linear        1 - p                  cosine         (1 + cos πp) / 2
    stable-decay  1, then linear decay   noam           width^-½ · min(s^-½, s·w^-3/2)

``p`` runs from 0 after the warm-up to 1 at the end; ``s`` counts steps from 1, ``w`` is the number
of warm-up steps. All but noam warm up linearly and decay to ``floor``.
"""

import math

from regard.recipe.training import ScheduleSettings


def rate_factor(settings: ScheduleSettings, step: int, steps: int, *, width: int) -> float:
    """Return the factor on the peak learning rate at ``step`` (from 0) of ``steps``."""
    warmup = max(1, round(settings.warmup * steps))
    if settings.kind == "noam":
        return width**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)
    if step < warmup:
        return (step + 1) / warmup if settings.warmup else 1.0
    progress = (step - warmup) / max(1, steps - warmup)
    return settings.floor + (1 - settings.floor) * _decay(settings, progress)


def _decay(settings: ScheduleSettings, progress: float) -> float:
    if settings.kind == "linear":
        return 1 - progress
    if settings.kind == "cosine":
        return (1 + math.cos(math.pi * progress)) / 2
    if settings.kind == "stable-decay":
        return min(1.0, (1 - progress) / max(settings.decay, 1e-9))
    return 1.0
