"""Transfer learning: copy the parameters of another run; heads are initialised anew.

    into a model of one text        body.*         ← body.*
    into a decoder (causal body)    writing.*      ← body.reading.*    decoder.*    ← body.stack.*
    into an encoder (any other)     reading.*      ← body.reading.*    encoder.*    ← body.stack.*
    from a translator's encoder     body.reading.* ← reading.*         body.stack.* ← encoder.*
    between models that generate    the same names; also copying.* if both copy

Cross-attention of a decoder is initialised anew. Pretraining and then another head: Radford et al.
2018, Devlin et al. 2019; a decoder from a language model: Ramachandran et al. 2017.
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
"""Prefixes of parameter names: of the new model, and of the other run."""

_TABLES = re.compile(r"(body\.reading|reading|writing)\.(table|segments|ngrams\..+)")
_BODY = (("body.", "body."),)
_FROM_ENCODER = (("body.reading.", "reading."), ("body.stack.", "encoder."))
_INTO_ENCODER = (("reading.", "body.reading."), ("encoder.", "body.stack."))
_INTO_DECODER = (("writing.", "body.reading."), ("decoder.", "body.stack."))
_INTO_TABLES = (("reading.", "body.reading."), ("writing.", "body.reading."))
_TRANSLATOR = tuple((part, part) for part in ("reading.", "encoder.", "writing.", "decoder."))


class Transferred(NamedTuple):
    """Names of the parameters that were transferred, and of those initialised anew."""

    carried: list[str]
    new: list[str]


def transfer_parameters(
    model: nn.Module, parameters: Mapping[str, Tensor], *, what: What = "body", causal: bool = False
) -> Transferred:
    """Copy the parameters of another run into a new model.

    A ``causal`` body becomes a translator's decoder, any other its encoder.
    """
    own = dict(model.named_parameters())
    homes = _homes(own, parameters, what=what, causal=causal)
    for name, theirs in homes.items():
        if own[name].shape != parameters[theirs].shape:
            here, there = tuple(own[name].shape), tuple(parameters[theirs].shape)
            raise _misfit(f"{meaning(name)} is {here} here, {there} in the other run")
    with torch.no_grad():
        for name, theirs in homes.items():
            own[name].copy_(parameters[theirs])
    for name, part in model.named_modules():
        # The choice of n-grams belongs to the embeddings.
        known = homes.get(f"{name}.tables.0", "").replace("tables.0", "known")
        if isinstance(part, Ngrams) and known in parameters:
            part.restrict(parameters[known])
    return Transferred([n for n in own if n in homes], [n for n in own if n not in homes])


def meaning(name: str) -> str:
    """Describe a parameter in words."""
    block = re.search(r"blocks\.(\d+)\.(mixer|feed_forward|cross)", name)
    if block:
        return f"block {int(block[1]) + 1}'s {block[2].replace('_', '-')} ({name})"
    if name.endswith("reading.table") or name == "writing.table":
        return f"the token embeddings ({name})"
    return name


def _homes(
    own: Iterable[str], theirs: Iterable[str], *, what: What, causal: bool
) -> dict[str, str]:
    """Map every parameter that is transferred to its name in the other run."""
    own, theirs = _movable(own, what), set(_movable(theirs, what))
    routes = _routes(own, theirs, what=what, causal=causal)
    found = {
        name: there + name.removeprefix(here)
        for name in own
        for here, there in routes
        if name.startswith(here) and (here == there or ".cross." not in name)
    }
    # Segment embeddings may be missing on either side: a body trained without pairs has none.
    needed = {name for name in found if not name.endswith(".segments")}
    missing = [name for name in own if name in needed and found[name] not in theirs]
    reached = tuple(there for _, there in routes)
    unused = sorted(theirs - set(found.values()))
    left = [n for n in unused if n.startswith(reached) and not n.endswith(".segments")]
    if missing:
        raise _misfit(f"{meaning(missing[0])} is in this model only")
    if left:
        raise _misfit(f"{meaning(left[0])} is in the other run only")
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
            "only a body can be transferred, and the other run has none.",
            "Start from a run whose model has a body, or take model.start.run out.",
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
        f"a body must fit the model that it is transferred to: {what}.",
        "Copy the settings of [model] from that run, or omit them: they are then taken from it.",
    )
