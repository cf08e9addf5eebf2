"""Parse a training budget: ``15min``, ``1h 30min``, ``10 epochs``, ``20M tokens``."""

import re
from typing import Literal, NamedTuple

from regard.recipe.settings import Refused

_SECONDS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0}
_SECONDS |= {"minute": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_NUMBER = r"(\d[\d_]*(?:\.\d+)?(?:[eE]\d+)?)"
_TIME = re.compile(rf"{_NUMBER}\s*([a-z]+)\s*", re.IGNORECASE)
_COUNT = re.compile(rf"{_NUMBER}\s*([kmbg]?)\s*(epoch|step|token)s?", re.IGNORECASE)

EXAMPLES = "10 epochs, 5000 steps, 20M tokens, 90s, 15min or 1h 30min"


class Budget(NamedTuple):
    """How long to train."""

    kind: Literal["time", "epochs", "steps", "tokens"]
    amount: float
    """Seconds for ``time``; otherwise the count itself."""


def parse_budget(text: str) -> Budget:
    """Parse a budget, or refuse it with examples of valid ones."""
    budget = _count(text.strip()) or _time(text.strip())
    if budget is None:
        raise Refused(f'"{text}" is not a training budget', f"Write one of {EXAMPLES}")
    if not 0 < budget.amount < float("inf"):
        raise Refused(
            f'a budget must be above zero and finite; "{text}" is not', f"Write one of {EXAMPLES}"
        )
    if budget.kind in ("steps", "tokens") and budget.amount % 1:
        raise Refused(
            f'{budget.kind} must be whole numbers; "{text}" is not', f"Write one of {EXAMPLES}"
        )
    return budget


def _count(text: str) -> Budget | None:
    found = _COUNT.fullmatch(text)
    if not found:
        return None
    number, times, unit = found.groups()
    amount = round(float(number) * _TIMES[times.lower()], 6)
    kinds: dict[str, Literal["epochs", "steps", "tokens"]]
    kinds = {"epoch": "epochs", "step": "steps", "token": "tokens"}
    return Budget(kinds[unit.lower()], amount)


def _time(text: str) -> Budget | None:
    seconds, place = 0.0, 0
    while found := _TIME.match(text, place):
        unit = found[2].lower()
        unit = unit if unit in _SECONDS else unit.removesuffix("s")
        if unit not in _SECONDS:
            return None
        seconds, place = seconds + float(found[1]) * _SECONDS[unit], found.end()
    return Budget("time", seconds) if text and place == len(text) else None
