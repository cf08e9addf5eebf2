"""Where a training begins: at random, or from another run; and how the carried parts learn.

    rate of block n of L    rate · r^(L-1-n)    of the embedding    rate · r^L    of heads    rate
    frozen at step s        while s < unfreeze_after · steps per epoch

Both follow from the recipe and the step alone, so that a resumed run does the same. The other run
is read once, before the first step: a run that goes on does not need it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from regard.errors import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.start import StartSettings
from regard.run import MODEL, Parts, Run, parts_of
from regard.tasks.transfer import Origin, carry_over, complete_from


class Began(NamedTuple):
    """What a training began from; kept in its checkpoints and its journal."""

    run: str
    """Name of the folder."""
    model: str
    """SHA-256 of that run's parameters."""
    carry: str
    carried: dict[str, int]
    """Numbers carried over, by part of the model."""
    new: dict[str, int]
    """Numbers that begin at random, by part."""
    names: list[str]
    """Every parameter that was carried over."""

    def told(self) -> dict[str, Any]:
        """Return what the report and the card say."""
        return {name: value for name, value in self._asdict().items() if name != "names"}


class Source(NamedTuple):
    """The run whose recipe and tokenizer a training goes by."""

    parts: Parts
    origin: Origin

    def complete(self, recipe: Recipe) -> Recipe:
        """Write into a recipe what it leaves to that run."""
        return complete_from(recipe, self.origin)


def source_of(recipe: Recipe, folder: Path, *, resume: bool) -> Source | None:
    """Return the run that a recipe begins from, or the resumed run itself once it knows."""
    if recipe.model.start.run is None:
        return None
    if resume and (own := parts_of(folder)) is not None:
        return Source(own, Origin(own.recipe, folder.name, same=True))
    run = Run(Path(recipe.model.start.run))
    return Source(Parts(run.recipe, run.tokenizer), Origin(run.recipe, recipe.model.start.run))


def begin_from(model: nn.Module, recipe: Recipe) -> Began | None:
    """Carry over what the recipe asks for, if it asks."""
    settings = recipe.model.start
    if settings.run is None:
        return None
    run = Run(Path(settings.run))
    carried, new = carry_over(model, run.parameters, into=recipe, origin=run.recipe)
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    if settings.freeze and not new:
        raise RecipeError(
            "something must learn: model.start.freeze is true and every parameter is carried over",
            "Set model.start.freeze to false, or give the model a head of its own: "
            "model.tied = false",
        )
    return Began(
        run=run.folder.name,
        model=run.facts["files"][MODEL],
        carry=settings.carry,
        carried=_by_part(carried, sizes),
        new=_by_part(new, sizes),
        names=carried,
    )


def is_frozen(settings: StartSettings, step: int, *, steps_per_epoch: int) -> bool:
    """Whether the carried parameters stay as they are at a step."""
    thaw = settings.unfreeze_after
    return settings.freeze and (thaw is None or step < thaw * steps_per_epoch)


def layer_shares(carried: Sequence[str], rate: float) -> dict[str, float]:
    """Give the share of the learning rate of every carried parameter whose share is not 1."""
    if rate == 1.0:
        return {}
    places = {name: _block(name) for name in carried}
    depths = Counter(stack for stack, _ in set(places.values()) if stack)
    deepest = max(depths.values(), default=0)
    shares = {}
    for name, (stack, number) in places.items():
        if stack:
            shares[name] = rate ** (depths[stack] - 1 - number)
        elif re.match(r"(body\.)?(reading|writing)\.", name):
            shares[name] = rate**deepest
    return shares


def _block(name: str) -> tuple[str, int]:
    found = re.match(r"(.*)\.blocks\.(\d+)\.", name)
    return (found[1], int(found[2])) if found else ("", 0)


def _by_part(names: Iterable[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """Sum sizes by what a reader calls a part: body.reading, body.stack, head, decoder."""
    parts: Counter[str] = Counter()
    for name in names:
        pieces = name.split(".")
        part = ".".join(pieces[:2]) if pieces[0] == "body" else pieces[0]
        parts[f"{part} (looks across)" if "cross" in pieces else part] += sizes[name]
    return dict(parts)
