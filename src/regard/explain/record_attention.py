"""Listening: what a model's taps on attention say while it runs over one text."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.embedding import Embedding
from regard.layers.tap import Tap, listen
from regard.run import Run

TAPS = "weights"
"""What every tap on attention is called."""


def hear(run: Run, batch: Any) -> tuple[list[list[int]], dict[str, NDArray[np.float32]]]:  # noqa: ANN401
    """Run the model over one text: the ids of every reading, and the weights of every stack."""
    read: list[list[int]] = []

    def hear(_part: nn.Module, given: tuple[Tensor, ...]) -> None:
        read.append(given[0][0].tolist())

    model = run.model.eval()
    readings = [part for part in model.modules() if isinstance(part, Embedding)]
    hooks = [part.register_forward_pre_hook(hear) for part in readings]
    attends = any(isinstance(part, Tap) for part in model.modules())
    try:
        with torch.inference_mode(), listen(model, *([TAPS] if attends else [])) as heard:
            run.task.states(model, batch)
    finally:
        for hook in hooks:
            hook.remove()
    stacks: dict[str, list[Tensor]] = {}
    for name, calls in heard.items():
        if calls:
            weights = calls[0][0]
            heads = weights if weights.dim() == 3 else weights[None]  # a pointer is one head
            stacks.setdefault(stack_of(name), []).append(heads)
    return read, {stack: torch.stack(all_).float().numpy() for stack, all_ in stacks.items()}


def stack_of(tap: str) -> str:
    """Say which stack a tap belongs to, from its qualified name."""
    parts = tap.split(".")
    if "copying" in parts:
        return "pointer"
    if "pool" in parts:
        return "pool"
    if "cross" in parts:
        return "cross"
    return parts[0] if parts[0] in ("encoder", "decoder") else "self"
