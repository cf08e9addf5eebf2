"""Devices: which one a run computes on, and which one a model is on.

The only file that names a kind of accelerator. Everything else calls it, moves the model and the
batch once, and makes each new tensor on the device of a tensor it is used with. Random numbers are
drawn on the CPU and moved, so that a seed means the same on every device.
"""

from typing import TYPE_CHECKING

from regard.errors import UsageError

if TYPE_CHECKING:  # recipes name devices, and are read without torch
    import torch

PATTERN = r"^(auto|cpu|mps|(cuda|xpu)(:\d+)?)$"
EXAMPLES = ["auto", "cpu", "cuda", "cuda:1", "mps", "xpu"]
"""What a recipe may ask for."""


def choose_device(name: str) -> "torch.device":
    """Return the device of that name; ``auto`` is the accelerator if there is one, else the CPU."""
    import torch

    there = accelerators()
    if name == "cpu" or (name == "auto" and not there):
        return torch.device("cpu")
    if name == "auto":
        return torch.device(there[0])
    device = torch.device(name if ":" in name else f"{name}:0")
    if str(device) not in there:
        raise UsageError(
            f'a device must be one that this machine has. Got "{name}"; PyTorch finds '
            f"{', '.join(['cpu', *there])}.",
            "Use another device: --set training.device=auto to train, "
            "--set decoding.device=auto to answer.",
        )
    return device


def accelerators() -> list[str]:
    """Name every accelerator that PyTorch can use here."""
    import torch

    found = torch.accelerator.current_accelerator(check_available=True)
    count = torch.accelerator.device_count() if found else 0
    return [f"{found.type}:{number}" for number in range(count)] if found else []


def device_of(model: "torch.nn.Module") -> "torch.device":
    """Return the device that a model's parameters are on."""
    return next(model.parameters()).device
