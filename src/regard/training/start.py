"""Initialization from another run, freezing and layer-wise learning rates.

    rate of block n of L    rate · r^(L-1-n)    of the embedding    rate · r^L    of heads    rate
    frozen at step s        while s < unfreeze_after · steps per epoch

Both follow from the recipe and the step alone, so that a resumed run does the same. The other run
is read once, before the first step: a resumed run does not need it.
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
from regard.run import Parts, Run, read_parts
from regard.run_files import MODEL
from regard.tasks.transfer import Origin, carry_over, complete_from


class StartingPoint(NamedTuple):
    """What was carried over from another run; kept in checkpoints and in the journal."""

    run: str
    """Name of its folder."""
    model: str
    """SHA-256 of its parameters."""
    carry: str
    carried: dict[str, int]
    """Number of parameters carried over, by part of the model."""
    new: dict[str, int]
    """Number of randomly initialized parameters, by part."""
    names: list[str]
    """Every parameter that was carried over."""

    def summary(self) -> dict[str, Any]:
        """Return what the report and the model card state."""
        return {name: value for name, value in self._asdict().items() if name != "names"}


class Source(NamedTuple):
    """The run whose recipe and tokenizer a training takes over."""

    parts: Parts
    origin: Origin

    def complete(self, recipe: Recipe) -> Recipe:
        """Fill in what a recipe takes from that run."""
        return complete_from(recipe, self.origin)


def find_source(recipe: Recipe, folder: Path, *, resume: bool) -> Source | None:
    """Return the run that a recipe starts from; of a resumed run, the run itself."""
    if recipe.model.start.run is None:
        return None
    if resume and (own := read_parts(folder)) is not None:
        return Source(own, Origin(own.recipe, folder.name, same=True))
    run = Run(Path(recipe.model.start.run))
    return Source(Parts(run.recipe, run.tokenizer), Origin(run.recipe, recipe.model.start.run))


def initialize_from_run(model: nn.Module, recipe: Recipe) -> StartingPoint | None:
    """Copy the parameters that ``model.start`` names, if it names a run."""
    settings = recipe.model.start
    if settings.run is None:
        return None
    run = Run(Path(settings.run))
    carried, new = carry_over(model, run.parameters, into=recipe, origin=run.recipe)
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    if settings.freeze and not new:
        raise RecipeError(
            "some parameters must be trained: model.start.freeze is true and every parameter is "
            "carried over",
            "Set model.start.freeze to false, or give the model an output head of its own: "
            "model.tied = false",
        )
    return StartingPoint(
        run=run.folder.name,
        model=run.facts["files"][MODEL],
        carry=settings.carry,
        carried=_count_by_part(carried, sizes),
        new=_count_by_part(new, sizes),
        names=carried,
    )


def is_frozen(settings: StartSettings, step: int, *, steps_per_epoch: int) -> bool:
    """Return whether the carried-over parameters are frozen at a step."""
    epochs = settings.unfreeze_after
    return settings.freeze and (epochs is None or step < epochs * steps_per_epoch)


def layer_rate_factors(carried: Sequence[str], decay: float) -> dict[str, float]:
    """Return the factors on the learning rates of carried-over parameters, where they are not 1."""
    if decay == 1.0:
        return {}
    places = {name: _stack_and_block(name) for name in carried}
    depths = Counter(stack for stack, _ in set(places.values()) if stack)
    deepest = max(depths.values(), default=0)
    factors = {}
    for name, (stack, number) in places.items():
        if stack:
            factors[name] = decay ** (depths[stack] - 1 - number)
        elif re.match(r"(body\.)?(reading|writing)\.", name):
            factors[name] = decay**deepest
    return factors


def _stack_and_block(name: str) -> tuple[str, int]:
    found = re.match(r"(.*)\.blocks\.(\d+)\.", name)
    return (found[1], int(found[2])) if found else ("", 0)


def _count_by_part(names: Iterable[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """Sum sizes by part: body.reading, body.stack, head, decoder and its cross-attention."""
    parts: Counter[str] = Counter()
    for name in names:
        pieces = name.split(".")
        part = ".".join(pieces[:2]) if pieces[0] == "body" else pieces[0]
        parts[f"{part} (cross-attention)" if "cross" in pieces else part] += sizes[name]
    return dict(parts)
