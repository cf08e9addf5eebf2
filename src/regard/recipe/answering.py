"""How a finished run answers may be said anew; all else about it is settled.

The table [decoding] alone is read after training, so that it alone can be changed: whether tokens
are drawn or searched for, how long an answer may be, who has a say beside a classifier's network.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from regard.errors import RecipeError, UsageError
from regard.recipe.decoding import ONLY
from regard.recipe.load import make, set_value
from regard.recipe.recipe import MAY_BE_IDLE, Recipe
from regard.recipe.settings import shown
from regard.recipe.tasks import find_idle
from regard.recipe.validation_errors import Origin


def asked_for(overrides: Iterable[str]) -> dict[str, Any]:
    """Read ``decoding.a=b``, as ``--set`` has it, into settings by name."""
    tables: dict[str, Any] = {}
    for override in overrides:
        tables = set_value(tables, override)
        path = override.partition("=")[0].strip()
        if not path.startswith("decoding."):
            raise UsageError(
                f"of a trained model only how it answers can be set. Got --set {path}.",
                "Set one of [decoding], as in --set decoding.max_length=50, or train another run.",
            )
    return tables.get("decoding", {})


def answering(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return a run's recipe with other settings of [decoding].

    Where the method changes, what belonged to the old one alone goes with it.
    """
    if not changes:
        return recipe
    kept = recipe.decoding.model_dump()
    method = changes.get("method", recipe.decoding.method)
    for owner, names in ONLY.items():
        if owner != method:
            kept = {name: value for name, value in kept.items() if name not in names}
    tables = {**recipe.model_dump(), "decoding": {**kept, **changes}}
    made = make(tables, Origin("how to answer"), context={MAY_BE_IDLE: True})
    for idle in find_idle(made):
        if idle.path.removeprefix("decoding.") in changes:
            raise RecipeError(
                f"{idle.path} = {shown(idle.value)} has no effect {idle.why}.",
                f"Leave {idle.path} out.",
            )
    return made
