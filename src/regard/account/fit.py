"""Whether a training fits into memory, and if not, the smallest change that makes it fit.

Every proposal is computed before it is made. More shards come first: they change nothing but the
rounding.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from regard.account.memory import memory
from regard.account.plan import ledger_of
from regard.ledger.load import Facts, Load
from regard.recipe.model import AttentionSettings
from regard.recipe.recipe import Recipe

PROGRAM = 400 * 2**20
"""Bytes of Python, torch and the libraries before the first tensor."""
FRAGMENTATION = 1.5
"""Resident memory over live tensors: freed blocks cannot always be reused. Measured on the shipped
recipes it is 1.2 to 1.5."""


class Fit(NamedTuple):
    """Whether a training fits."""

    fits: bool | None
    """None where the free memory is unknown."""
    needs: int
    """Bytes, the program included."""
    free: int | None
    proposal: str = ""
    """Which settings would make it fit."""

    def describe(self) -> str:
        """Return the verdict as a sentence."""
        needs = f"needs {format_bytes(self.needs)}"
        if self.fits is None:
            return f"{needs}; the free memory of this system is unknown"
        free = format_bytes(self.free or 0)
        if self.fits:
            return f"fits: {needs}, {free} free"
        return f"does not fit: {needs}, only {free} free. {self.proposal}"


def fit(recipe: Recipe, facts: Facts, load: Load, free: int | None) -> Fit:
    """Compare a recipe's memory with what is free."""
    needs = required_memory(recipe, facts, load)
    if free is None:
        return Fit(None, needs, free)
    if needs <= free:
        return Fit(True, needs, free)
    return Fit(False, needs, free, _proposal(recipe, facts, load, free))


def required_memory(recipe: Recipe, facts: Facts, load: Load) -> int:
    """Return the bytes that a training takes, including program and fragmentation."""
    return PROGRAM + int(FRAGMENTATION * memory(recipe, ledger_of(recipe, facts, load)).peak)


def _proposal(recipe: Recipe, facts: Facts, load: Load, free: int) -> str:
    for words, changed, smaller in _changes(recipe, load):
        needs = required_memory(changed, facts, smaller)
        if needs <= free:
            return f"Try {words} (needs {format_bytes(needs)})."
    return "Use a machine with more memory: not even the smallest model of this kind fits."


def _changes(recipe: Recipe, load: Load) -> Iterator[tuple[str, Recipe, Load]]:
    """Yield changes, the smallest first."""
    shards, part = recipe.training.shards, load
    while part.rows > 1:
        shards *= 2
        part = load.split(shards // recipe.training.shards)
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


def format_bytes(size: int | float) -> str:
    """Format a number of bytes."""
    if size >= 2**30:
        return f"{size / 2**30:.1f} GiB"
    return f"{size / 2**20:.0f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"
