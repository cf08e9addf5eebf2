"""Transfer: carry what was learned into another model; its heads begin anew.

    into a model of one text        body.*         ← body.*
    into a decoder (causal body)    writing.*      ← body.reading.*    decoder.*    ← body.stack.*
    into an encoder (any other)     reading.*      ← body.reading.*    encoder.*    ← body.stack.*
    from a translator's encoder     body.reading.* ← reading.*         body.stack.* ← encoder.*
    between models that write       the same names; also copying.* if both copy

A decoder's looks into another text have nothing to carry: they begin anew. Pretraining and then
another head: Radford et al. 2018, Devlin et al. 2019; a decoder from a language model: Ramachandran
et al. 2017.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import RunError
from regard.layers.embedding import Ngrams

What = Literal["body", "embedding"]
Route = tuple[str, str]
"""Where parameters go, and where they come from: the beginnings of their names."""

_TABLES = re.compile(r"(body\.reading|reading|writing)\.(table|segments|ngrams\..+)")
_BODY = (("body.", "body."),)
_FROM_ENCODER = (("body.reading.", "reading."), ("body.stack.", "encoder."))
_INTO_ENCODER = (("reading.", "body.reading."), ("encoder.", "body.stack."))
_INTO_DECODER = (("writing.", "body.reading."), ("decoder.", "body.stack."))
_INTO_TABLES = (("reading.", "body.reading."), ("writing.", "body.reading."))
_TRANSLATOR = tuple((part, part) for part in ("reading.", "encoder.", "writing.", "decoder."))


class Carried(NamedTuple):
    """Which parameters of a model were carried over and which begin anew, by name."""

    carried: list[str]
    new: list[str]


def carry(
    model: nn.Module, parameters: Mapping[str, Tensor], *, what: What = "body", causal: bool = False
) -> Carried:
    """Copy what another run learned into a fresh model.

    ``causal`` says whether that run's body saw only what came before: such a body becomes a
    translator's decoder, any other its encoder.
    """
    own = dict(model.named_parameters())
    homes = _homes(own, parameters, what=what, causal=causal)
    for name, theirs in homes.items():
        if own[name].shape != parameters[theirs].shape:
            here, there = tuple(own[name].shape), tuple(parameters[theirs].shape)
            raise _misfit(f"{meaning(name)} is {here} here and {there} there")
    with torch.no_grad():
        for name, theirs in homes.items():
            own[name].copy_(parameters[theirs])
    for name, part in model.named_modules():
        # Which runs have vectors was settled where the vectors were learned.
        settled = homes.get(f"{name}.tables.0", "").replace("tables.0", "known")
        if isinstance(part, Ngrams) and settled in parameters:
            part.know(parameters[settled])
    return Carried([n for n in own if n in homes], [n for n in own if n not in homes])


def meaning(name: str) -> str:
    """Say in words what a parameter belongs to."""
    block = re.search(r"blocks\.(\d+)\.(mixer|feed_forward|cross)", name)
    if block:
        return f"block {int(block[1]) + 1}'s {block[2].replace('_', '-')} ({name})"
    if name.endswith("reading.table") or name == "writing.table":
        return f"the table of tokens ({name})"
    return name


def _homes(
    own: Iterable[str], theirs: Iterable[str], *, what: What, causal: bool
) -> dict[str, str]:
    """Give, for every parameter that is carried over, the name it had there."""
    own, theirs = _movable(own, what), set(_movable(theirs, what))
    routes = _routes(own, theirs, what=what, causal=causal)
    found = {
        name: there + name.removeprefix(here)
        for name in own
        for here, there in routes
        if name.startswith(here) and (here == there or ".cross." not in name)
    }
    # Vectors of spans may be missing on either side: a body that never read pairs has none.
    needed = {name for name in found if not name.endswith(".segments")}
    missing = [name for name in own if name in needed and found[name] not in theirs]
    reached = tuple(there for _, there in routes)
    unused = sorted(theirs - set(found.values()))
    left = [n for n in unused if n.startswith(reached) and not n.endswith(".segments")]
    if missing:
        raise _misfit(f"{meaning(missing[0])} is here and not there")
    if left:
        raise _misfit(f"{meaning(left[0])} is there and not here")
    return {name: there for name, there in found.items() if there in theirs}


def _movable(names: Iterable[str], what: What) -> list[str]:
    every = (name for name in names if not name.endswith(".known"))
    return [name for name in every if what == "body" or _TABLES.fullmatch(name)]


def _routes(
    own: Iterable[str], theirs: Iterable[str], *, what: What, causal: bool
) -> tuple[Route, ...]:
    to_body, from_body = (any(n.startswith("body.") for n in names) for names in (own, theirs))
    if not from_body and not any(n.startswith("reading.") for n in theirs):
        raise RunError(
            "only a body can be carried over, and the other run has none.",
            "Begin from a run whose model has a body, or take model.start.run out.",
        )
    if to_body:
        return _BODY if from_body else _FROM_ENCODER
    if not from_body:
        both = all(any(n.startswith("copying.") for n in names) for names in (own, theirs))
        return (*_TRANSLATOR, ("copying.", "copying.")) if both else _TRANSLATOR
    if what == "embedding":
        return _INTO_TABLES
    if not causal:
        return _INTO_ENCODER
    shared = not any(n.startswith("writing.") for n in own)  # one table reads and writes
    return (*_INTO_DECODER, ("reading.", "body.reading.")) if shared else _INTO_DECODER


def _misfit(what: str) -> RunError:
    return RunError(
        f"a body must fit the model it is carried into: {what}.",
        "Take the settings of [model] from that run, or leave them out to have them taken.",
    )
