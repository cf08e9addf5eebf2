"""Override [decoding] of a finished run; all other settings are fixed by training.

Only [decoding] is used after training: search or sampling, the length of answers, the weight of a
classifier's baseline.
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


def parse_overrides(overrides: Iterable[str]) -> dict[str, Any]:
    """Parse ``--set decoding.a=b`` into settings by name."""
    tables: dict[str, Any] = {}
    for override in overrides:
        tables = set_value(tables, override)
        path = override.partition("=")[0].strip()
        if not path.startswith("decoding."):
            raise UsageError(
                f"only [decoding] of a trained model can be set. Got --set {path}.",
                "Set a field of [decoding], as in --set decoding.max_length=50, or train again.",
            )
    return tables.get("decoding", {})


def override_decoding(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return a run's recipe with other settings of [decoding].

    If the method changes, settings that only the old method uses are dropped.
    """
    if not changes:
        return recipe
    kept = recipe.decoding.model_dump()
    method = changes.get("method", recipe.decoding.method)
    for owner, names in ONLY.items():
        if owner != method:
            kept = {name: value for name, value in kept.items() if name not in names}
    tables = {**recipe.model_dump(), "decoding": {**kept, **changes}}
    made = make(tables, Origin("decoding"), context={MAY_BE_IDLE: True})
    for idle in find_idle(made):
        if idle.path.removeprefix("decoding.") in changes:
            raise RecipeError(
                f"{idle.path} = {shown(idle.value)} has no effect {idle.why}.",
                f"Leave {idle.path} out.",
            )
    return made
