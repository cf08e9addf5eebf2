"""Curves of a run as columns: the part that a page does not have yet.

cursor = generation : steps : evaluations        what the page has
smooth = Σ β^(n-i) (1-β) y_i / (1 - β^n)          exponential mean without the bias of its start
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.studio.follow import Follower

STEPS = {
    "loss": "training loss",
    "rate": "learning rate",
    "gradient": "gradient norm",
    "tokens_per_second": "tokens per second",
}
"""What is recorded while training: its name in the journal, and as it is shown."""
AXES = {"steps": ("step", 1.0), "minutes": ("seconds", 1 / 60), "tokens": ("tokens", 1.0)}
Events = Sequence[Mapping[str, Any]]


def read_curves(follower: Follower, cursor: str, smoothing: float) -> dict[str, Any]:
    """Return what was recorded after a cursor; everything if that no longer holds."""
    begin = _parse(cursor, follower.generation)
    steps = [event for event in follower.events if event["event"] == "step"]
    measured = [event for event in follower.events if event["event"] == "evaluation"]
    if begin is None or begin[0] > len(steps) or begin[1] > len(measured):
        begin = None
    first, second = begin or (0, 0)
    names = {name: f"valid {name}" for event in measured for name in event.get("metrics", {})}
    return {
        "cursor": f"{follower.generation}:{len(steps)}:{len(measured)}",
        "whole": begin is None,
        "steps": _columns(steps, steps, STEPS, first, smoothing),
        "evaluations": _columns(
            measured, [event.get("metrics", {}) for event in measured], names, second, smoothing
        ),
        "samples": [_samples(event) for event in measured[second:]],
    }


def smooth(values: Sequence[float | None], beta: float) -> list[float | None]:
    """Average a curve exponentially; gaps stay gaps."""
    mean, weight, found = 0.0, 0.0, list[float | None]()
    for value in values:
        if value is None:
            found.append(None)
            continue
        mean, weight = beta * mean + (1 - beta) * value, beta * weight + (1 - beta)
        found.append(mean / weight)
    return found


def _parse(cursor: str, generation: str) -> tuple[int, int] | None:
    name, _, counts = cursor.partition(":")
    steps, _, measured = counts.partition(":")
    known = name == generation and steps.isdecimal() and measured.isdecimal()
    return (int(steps), int(measured)) if known else None


def _columns(
    events: Events, values: Events, names: Mapping[str, str], begin: int, smoothing: float
) -> dict[str, Any]:
    """Return the columns of some events: where they are, and every value."""
    series = {shown: [_number(each.get(name)) for each in values] for name, shown in names.items()}
    return {
        "x": {
            axis: [_scaled(event.get(name), factor) for event in events[begin:]]
            for axis, (name, factor) in AXES.items()
        },
        "y": {shown: column[begin:] for shown, column in series.items()},
        "smooth": {shown: smooth(column, smoothing)[begin:] for shown, column in series.items()},
    }


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) else None


def _scaled(value: object, factor: float) -> float | None:
    found = _number(value)
    return None if found is None else found * factor


def _samples(event: Mapping[str, Any]) -> dict[str, Any]:
    return {"step": event.get("step"), "samples": event.get("samples", [])}
