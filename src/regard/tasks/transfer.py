"""Beginning from another run: its tokenizer, its shape and its parameters, with another head.

What a recipe leaves out of ``[text]`` and of the body's shape is taken from the run it begins from;
what it states must agree, since a body fits no other tokenizer and no other shape. How the new run
trains (dropout) and answers (heads) is its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

from regard.errors import RunError
from regard.models.transfer import Transferred, transfer_parameters
from regard.recipe.load import make
from regard.recipe.recipe import Recipe
from regard.recipe.settings import Settings, shown
from regard.recipe.tasks import ENCODER_DECODERS

TEXT = ("tokenizer", "vocabulary", "lowercase", "sample_bytes", "max_length")
EMBEDDING = ("width", "scaled_embedding", "embedding")
BODY = (
    *EMBEDDING,
    "depth",
    "feed_forward",
    "activation",
    "norm",
    "norm_order",
    "last_norm",
    "biases",
    "mixer",
    "bare",
    "states",
    "position",
)
OWN = {"model.mixer.dropout"}
"""Never taken from the other run."""
MAY_DIFFER = {
    "text.sample_bytes",
    "text.max_length",
    "model.mixer.dropout",
    "model.mixer.window",
    "model.embedding.ngram_dropout",
    "model.embedding.ngram_lazy",
    "model.embedding.ngram_min_count",
    "model.embedding.segments",
    "model.causal",
    "model.copying",
}
"""Fit whatever the other run had."""


class Origin(NamedTuple):
    """The recipe of the run that is begun from."""

    recipe: Recipe
    name: str
    """What the run is called in a message."""
    same: bool = False
    """Whether it is this very run, resumed; differences are then reported elsewhere."""


def complete_from(recipe: Recipe, origin: Origin) -> Recipe:
    """Write into a recipe what it leaves to the run it begins from; refuse what does not fit."""
    tables = recipe.model_dump(mode="json")
    shape = shape_from(origin, task=recipe.task, carry=recipe.model.start.carry)
    for table, names in (("text", {n: n for n in TEXT}), ("model", shape)):
        own, theirs = getattr(recipe, table), getattr(origin.recipe, table)
        tables[table] |= _take(own, theirs, names, (table, table), origin)
    answers_once = recipe.task in ("classification", "sentence-pair", "retrieval")
    if answers_once and recipe.model.causal is None and is_causal(origin.recipe):
        tables["model"]["causal"] = True
    return make(tables)


def carry_over(
    model: nn.Module, parameters: Mapping[str, Tensor], *, into: Recipe, origin: Recipe
) -> Transferred:
    """Transfer the parameters of another run into a new model, as ``[model.start]`` says."""
    what = into.model.start.carry
    return transfer_parameters(model, parameters, what=what, causal=is_causal(origin))


def is_causal(recipe: Recipe) -> bool:
    """Whether a position of the body that a recipe trains sees only what came before it."""
    return recipe.task == "language-modelling" or bool(recipe.model.causal)


def shape_from(origin: Origin, *, task: str, carry: str) -> dict[str, str]:
    """Name the settings of ``[model]`` that are taken, each with its name in the other run."""
    if carry == "embedding":
        return {name: name for name in EMBEDDING}
    same = {name: name for name in BODY}
    if origin.same:
        same |= {"causal": "causal"}
    elif task not in ENCODER_DECODERS:
        return same
    if origin.same or origin.recipe.task in ENCODER_DECODERS:
        return same | {name: name for name in ("decoder_depth", "tied", "copying")}
    if is_causal(origin.recipe):
        del same["depth"]
        return {**same, "decoder_depth": "depth"}
    return same


def _take(
    own: Settings,
    theirs: Settings,
    names: Mapping[str, str],
    paths: tuple[str, str],
    origin: Origin,
) -> dict[str, Any]:
    """Return the named settings of a table: as stated here, else as the other run had them."""
    taken: dict[str, Any] = {}
    for name, other in names.items():
        here, there = getattr(own, name), getattr(theirs, other)
        where = f"{paths[0]}.{name}"
        stated = name in own.model_fields_set
        if isinstance(there, Settings):
            inner = (where, f"{paths[1]}.{other}")
            taken[name] = _taken_table(here if stated else None, there, inner, origin)
        elif not stated and where not in OWN:
            taken[name] = there
        elif stated and here != there and where not in MAY_DIFFER and not origin.same:
            raise _make_refusal((where, f"{paths[1]}.{other}"), here, there, origin)
        else:
            taken[name] = here
    return taken


def _taken_table(
    stated: Settings | None, theirs: Settings, paths: tuple[str, str], origin: Origin
) -> dict[str, Any]:
    fields = type(theirs).model_fields
    if stated is None:
        own = {name for name in fields if f"{paths[0]}.{name}" in OWN}
        return {**theirs.model_dump(mode="json"), **{name: fields[name].default for name in own}}
    if type(stated) is type(theirs):
        return _take(stated, theirs, {name: name for name in fields}, paths, origin)
    if origin.same:
        return stated.model_dump(mode="json")
    kinds = tuple(f"{path}.kind" for path in paths)
    raise _make_refusal((kinds[0], kinds[1]), stated.kind, theirs.kind, origin)  # type: ignore[attr-defined]


def _make_refusal(paths: tuple[str, str], here: object, there: object, origin: Origin) -> RunError:
    words = paths[0].startswith("text.")
    rule = (
        "a tokenizer must be the one the body was trained with"
        if words
        else "a body must fit the model it is carried into"
    )
    other = "" if paths[0] == paths[1] else f"{paths[1]} "
    return RunError(
        f"{rule}: {paths[0]} is {shown(here)} here and {other}{shown(there)} in {origin.name}.",
        f"Leave {paths[0]} out to take that run's, or take model.start.run out.",
    )
