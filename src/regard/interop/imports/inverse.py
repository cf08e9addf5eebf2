"""The inverse of an architecture's map of tensors.

Every number of theirs is ``factor · (one of our numbers) + constant``. Three probes of the map tell
which: with all of ours 0 (the constants), 1 (the factors) and numbered from 1 on (the places). So
one function serves both directions, and what has no place here is refused by its name.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from regard.errors import DataError

Map = Callable[[Mapping[str, Tensor]], dict[str, Tensor]]
"""Our parameters to their tensors."""
EXACT = torch.float64


def invert(
    forward: Map, shapes: Mapping[str, torch.Size], theirs: Mapping[str, Tensor], file: str
) -> dict[str, Tensor]:
    """Return our parameters for their tensors; refuse tensors without a place here."""
    total = sum(shape.numel() for shape in shapes.values())
    zeros = forward({name: torch.zeros(shape, dtype=EXACT) for name, shape in shapes.items()})
    ones = forward({name: torch.ones(shape, dtype=EXACT) for name, shape in shapes.items()})
    numbered = forward(_number(shapes))
    values, known = torch.zeros(total, dtype=EXACT), torch.zeros(total, dtype=torch.bool)
    for name, constant in zeros.items():
        factor = ones[name] - constant
        learned = factor != 0
        if name not in theirs:
            if learned.any():
                raise _refuse(file, f"it has no tensor {name}")
            continue
        tensor = theirs[name].to(EXACT)
        if tensor.shape != constant.shape:
            raise _refuse(
                file,
                f"{name} has the shape {tuple(tensor.shape)}, and config.json gives "
                f"{tuple(constant.shape)}",
            )
        if not torch.equal(tensor[~learned], constant[~learned]):
            raise _refuse(file, f"{name} has numbers that no setting here stands for")
        places = ((numbered[name] - constant) / torch.where(learned, factor, 1.0)).round().long()
        own, found = places[learned] - 1, ((tensor - constant) / factor)[learned]
        twice = known[own]
        if not torch.equal(values[own[twice]], found[twice]):
            raise _refuse(file, f"{name} differs from a tensor that it is the same as here")
        values[own], known[own] = found, True
    if not known.all():
        raise _refuse(file, "some parameters are in none of its tensors")
    return _split(values, shapes)


def list_unused(
    forward: Map, shapes: Mapping[str, torch.Size], theirs: Mapping[str, Tensor]
) -> list[str]:
    """Return their tensors that the map does not know."""
    zeros = forward({name: torch.zeros(shape) for name, shape in shapes.items()})
    return sorted(theirs.keys() - zeros.keys())


def _number(shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    """Return our parameters with the numbers from 1 on in place of their values."""
    numbered, start = {}, 1
    for name, shape in shapes.items():
        stop = start + shape.numel()
        numbered[name] = torch.arange(start, stop, dtype=EXACT).view(shape)
        start = stop
    return numbered


def _split(values: Tensor, shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    sizes = [shape.numel() for shape in shapes.values()]
    parts = values.split(sizes)
    return {
        name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


def _refuse(file: str, why: str) -> DataError:
    return DataError(
        f"a model that is imported must compute the same here. {file}: {why}.",
        "Get both files again, from one place, or import another model.",
    )
