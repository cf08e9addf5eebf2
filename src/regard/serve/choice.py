"""Which run answers a request whose API has no field for it, or leaves it out."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.served import Served

Fits = Callable[[Mapping[str, Any]], bool]
"""Whether a run or an index, by its facts, can do what is asked."""
UNFIT = "unfit"
"""The kind of refusals that say so."""


def choose(engine: Engine, name: str | None, preferences: Iterable[Fits], what: str) -> Served:
    """Find what has a name and fits; without one, the only one of the first kind there is."""
    preferences = tuple(preferences)
    if name is not None:
        served = engine.find(name)
        if not any(fits(served.facts) for fits in preferences):
            raise Refusal(422, UNFIT, f"{what}. {served.name} cannot; name another.", param="model")
        return served
    for fits in preferences:
        fitting = [one for one in engine.served.values() if fits(one.facts)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = ", ".join(one.name for one in fitting)
            message = f"several can answer; name one of them in model: {names}."
            raise Refusal(422, "invalid", message, param="model")
    raise Refusal(422, UNFIT, f"{what}. None is served here.", param="model")
