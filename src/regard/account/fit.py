"""Does it fit this machine's memory, and if not: the smallest change that makes it fit.

Every proposal is accounted for before it is made. Cutting a step into more shards comes first: it
changes nothing but the rounding.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from regard.account.memory import memory
from regard.account.plan import ledger_of
from regard.ledger.load import Facts, Load
from regard.recipe.model import AttentionSettings
from regard.recipe.recipe import Recipe

PROGRAM = 400 * 2**20
"""Bytes that Python, torch and the libraries take before the first tensor."""
SPARE = 1.5
"""Resident memory beside what is alive: freed pieces do not always fit what comes next. Measured on
the shipped recipes it is 1.2 to 1.5 times as much."""


class Fit(NamedTuple):
    """Whether a training fits."""

    fits: bool | None
    """None where the system does not say how much is free."""
    needs: int
    """Bytes, the program included."""
    free: int | None
    proposal: str = ""
    """What to set, where it does not fit."""

    def told(self) -> str:
        """Say it in a sentence."""
        needs = f"needs {gib(self.needs)}"
        if self.fits is None:
            return f"{needs}; this system does not say how much memory is free"
        if self.fits:
            return f"fits: {needs}, and {gib(self.free or 0)} are free"
        return f"does not fit: {needs}, but {gib(self.free or 0)} are free. {self.proposal}"


def fit(recipe: Recipe, facts: Facts, load: Load, free: int | None) -> Fit:
    """Hold a recipe's memory against what is free."""
    needs = needed(recipe, facts, load)
    if free is None:
        return Fit(None, needs, free)
    if needs <= free:
        return Fit(True, needs, free)
    return Fit(False, needs, free, _proposal(recipe, facts, load, free))


def needed(recipe: Recipe, facts: Facts, load: Load) -> int:
    """Bytes that a training takes, program and gaps included."""
    return PROGRAM + int(SPARE * memory(recipe, ledger_of(recipe, facts, load)).peak)


def _proposal(recipe: Recipe, facts: Facts, load: Load, free: int) -> str:
    for words, changed, smaller in _changes(recipe, load):
        need = needed(changed, facts, smaller)
        if need <= free:
            return f"Try {words} (it then needs {gib(need)})."
    return "Try a machine with more memory: not even the smallest model of this kind fits."


def _changes(recipe: Recipe, load: Load) -> Iterator[tuple[str, Recipe, Load]]:
    """Yield changes, the mildest first."""
    shards, part = recipe.training.shards, load
    while part.rows > 1:
        shards *= 2
        part = load.parted(shards // recipe.training.shards)
        yield f"--set training.shards={shards}", _with(recipe, "training", shards=shards), part
    width, inner = recipe.model.width, recipe.model.feed_forward
    heads = recipe.model.mixer.heads if isinstance(recipe.model.mixer, AttentionSettings) else 1
    smallest = _with(recipe, "training", shards=shards)
    while width >= 4 * heads and width % (4 * heads) == 0:
        width, inner = width // 2, max(1, inner // 2)
        both = f"--set model.width={width} --set model.feed_forward={inner}"
        changed = _with(smallest, "model", width=width, feed_forward=inner)
        yield f"{both} --set training.shards={shards}", changed, part


def _with(recipe: Recipe, table: str, **values: Any) -> Recipe:  # noqa: ANN401 - any setting's
    changed = getattr(recipe, table).model_copy(update=values)
    return recipe.model_copy(update={table: changed})


def gib(size: int | float) -> str:
    """Write bytes for a person."""
    if size >= 2**30:
        return f"{size / 2**30:.1f} GiB"
    return f"{size / 2**20:.0f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"
