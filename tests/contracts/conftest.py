"""Another device, on a machine that has none: tensors are computed on the CPU and say otherwise."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

FAR = torch.device("cuda:0")
CPU = torch.device("cpu")
DEVICES = {"cpu": CPU, "cuda": FAR, "cuda:0": FAR}
DRAWS = {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"}
DRAWS |= {"normal", "bernoulli", "multinomial", "dropout", "normal_", "uniform_", "random_"}
DRAWS |= {"bernoulli_", "exponential_", "trunc_normal_"}
MOVES = {"to", "copy_", "_has_compatible_shallow_copy_type"}
"""Calls in which tensors of two devices may meet."""


class OtherDevice(TorchFunctionMode):
    """Lets tensors say that they are on another device, and refuses what that device would refuse.

    Tensors of the other device carry a mark. A call that is given tensors with and without it
    raises (tensors without axes may come from the CPU, as on a real device), and so does drawing
    random numbers there, reading it as an array, or float64, which some devices lack. What autograd does on the way back is not seen.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, kwargs = resolve_name(func) or func.__name__, kwargs or {}
        if name.endswith("__"):
            return attribute(name.rsplit(".", 2)[-2], func, args, kwargs)
        name = name.rpartition(".")[2]
        if func is torch.device:
            return func(*args, **kwargs)
        if name == "_parse_to":  # what a module's own ``to`` was asked for
            return (DEVICES[str(args[0])], *func("cpu", *args[1:], **kwargs)[1:])
        if name == "grad":  # each slope is where what it is taken by is
            slopes = func(*args, **kwargs)
            for slope, by in zip(slopes, args[1], strict=True):
                mark(slope, far=is_far(by))
            return slopes
        return called(name, func, args, kwargs)


def attribute(name, func, args, kwargs):
    """Get or set an attribute, or call an operator."""
    if name == "device":
        return FAR if is_far(args[0]) else CPU
    if name == "data" and len(args) > 1:
        args[0]._far = is_far(args[1])
        return func(*args)
    return called(func.__name__, func, args, kwargs)


def called(name, func, args, kwargs):
    """Call a function on the CPU, as if on the devices of what it is given and asked for."""
    tensors, devices = [], []
    args = local(args, tensors, devices)
    kwargs = {key: local(value, tensors, devices) for key, value in kwargs.items()}
    refuse(name, tensors)
    if name == "cpu":
        far = False
    elif devices:
        far = FAR in devices
    elif name in ("to", "copy_") and len(tensors) > 1:
        far = is_far(tensors[name == "to"])
    else:
        far = any(map(is_far, tensors))
    if far and name in DRAWS:
        raise RuntimeError(f"{name} draws random numbers on {FAR}")
    found = func(*args, **kwargs)
    if name in ("to", "cpu") and is_far(args[0]) != far:
        found = found.clone()  # as the CPU sees it, it was there already
    mark(found, far=far)
    return found


def refuse(name: str, tensors: list[Tensor]) -> None:
    if not any(map(is_far, tensors)):
        return
    if name in ("numpy", "__array__"):
        raise RuntimeError(f"{name} of a tensor on {FAR}")
    near = [tuple(tensor.shape) for tensor in tensors if not is_far(tensor) and tensor.ndim]
    if near and name not in MOVES:
        raise RuntimeError(f"{name} of tensors on {FAR} and of those of shape {near} on the CPU")


def local(value: Any, tensors: list[Tensor], devices: list[torch.device]) -> Any:
    """Return an argument with the CPU for a device; note the tensors and devices in it."""
    if isinstance(value, Tensor):
        tensors.append(value)
    elif isinstance(value, torch.device) or (isinstance(value, str) and value in DEVICES):
        devices.append(DEVICES[str(value)])
        return CPU
    elif type(value) in (tuple, list):
        return type(value)(local(each, tensors, devices) for each in value)
    return value


def is_far(tensor: Tensor | None) -> bool:
    return getattr(tensor, "_far", False)


def mark(found: Any, *, far: bool) -> None:
    if isinstance(found, Tensor):
        if far and found.dtype in (torch.float64, torch.complex128):
            raise RuntimeError(f"a tensor of {found.dtype} on {FAR}; not every device has it")
        found._far = far
    elif isinstance(found, tuple | list):
        for each in found:
            mark(each, far=far)


@pytest.fixture
def other_machine(monkeypatch) -> Callable[[], AbstractContextManager[torch.device]]:
    """Get a way to a machine that has another device, which it names."""

    @contextmanager
    def there():
        with OtherDevice(), monkeypatch.context() as patch:
            patch.setattr("regard.device.accelerators", lambda: [str(FAR)])
            yield FAR

    return there


@pytest.fixture
def other_device(other_machine) -> Iterator[torch.device]:
    """Spend a test on such a machine."""
    with other_machine() as device:
        yield device
