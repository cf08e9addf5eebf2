"""Time: from the seconds of a few steps to those of a whole budget.

    seconds(depth) = seconds(1) + (depth - 1) · (seconds(2) - seconds(1))

Blocks are alike, so a deep model is timed by shallow ones where its own steps would take long. The
steps themselves are taken by :mod:`regard.training.step_timing`.
"""

from typing import Any, NamedTuple

from regard.recipe.budget import parse_budget


class Pace(NamedTuple):
    """How fast steps go here."""

    step: float
    """Seconds of one step."""
    tokens: float
    """Tokens learned from in one step."""
    how: str
    """How it was found, in words."""
    steps_per_epoch: int | None = None
    """Known once the data has been read."""


class Forecast(NamedTuple):
    """What a budget comes to; None where only the data could say."""

    steps: int | None
    seconds: float | None


def extrapolated(shallow: float, deeper: float, depth: int) -> float:
    """Seconds of a step at ``depth``, from those at depths one and two."""
    return shallow + (depth - 1) * max(0.0, deeper - shallow)


def forecast(budget: str, pace: Pace) -> Forecast:
    """Say how many steps a budget pays for, and how long they take."""
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
    """Return it under the names that scripts rely on."""
    found = forecast(budget, pace)
    return {
        "step": pace.step,
        "tokens_per_second": pace.tokens / pace.step,
        "how": pace.how,
        "steps": found.steps,
        "budget": found.seconds,
    }


UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60))


def told(seconds: float) -> str:
    """Say a length of time as a person would."""
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.3g} s"
