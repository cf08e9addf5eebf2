"""Time: from the seconds per step to those of a budget.

    seconds(depth) = seconds(1) + (depth - 1) · (seconds(2) - seconds(1))

All blocks cost the same, so the time of a slow deep model is extrapolate from shallow ones. Steps
are timed by :mod:`regard.training.step_timing`.
"""

from typing import Any, NamedTuple

from regard.recipe.budget import parse_budget


class Pace(NamedTuple):
    """The speed of training steps on this machine."""

    step: float
    """Seconds per step."""
    tokens: float
    """Tokens per step."""
    how: str
    """How it was measured, in words."""
    steps_per_epoch: int | None = None
    """Known once the data has been read."""


class Forecast(NamedTuple):
    """Steps and seconds of a budget; None where they depend on unread data."""

    steps: int | None
    seconds: float | None


def extrapolate(shallow: float, deeper: float, depth: int) -> float:
    """Return the seconds per step at ``depth``, from those at depths one and two."""
    return shallow + (depth - 1) * max(0.0, deeper - shallow)


def forecast(budget: str, pace: Pace) -> Forecast:
    """Return the steps and seconds of a budget."""
    kind, amount = parse_budget(budget)
    if kind == "time":
        return Forecast(max(1, int(amount / pace.step)), amount)
    if kind == "epochs":
        if pace.steps_per_epoch is None:
            return Forecast(None, None)
        amount *= pace.steps_per_epoch
    elif kind == "tokens":
        amount /= pace.tokens
    steps = max(1, round(amount))
    return Forecast(steps, steps * pace.step)


def as_json(budget: str, pace: Pace) -> dict[str, Any]:
    """Return it under names that scripts rely on."""
    found = forecast(budget, pace)
    return {
        "step": pace.step,
        "tokens_per_second": pace.tokens / pace.step,
        "how": pace.how,
        "steps": found.steps,
        "budget": found.seconds,
    }


UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60))


def format_duration(seconds: float) -> str:
    """Format seconds in a readable unit."""
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.3g} s"
