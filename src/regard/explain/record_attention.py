"""Record the weights that flow through a model's taps on attention while it reads one text."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.embedding import Embedding
from regard.layers.tap import Tap, listen

TAPS = "weights"
"""What every tap on attention is called."""
Stacks = dict[str, NDArray[np.float32]]
"""By stack: layer, head, row, column."""


class Recorded(NamedTuple):
    """What one forward pass read, and where it attended."""

    ids: list[list[int]]
    """Of every call of an embedding, in order."""
    stacks: Stacks


def record_attention(model: nn.Module, forward: Callable[[], Tensor]) -> Recorded:
    """Record the ids that are read and the weights of every stack during one forward pass."""
    ids: list[list[int]] = []

    def record(_part: nn.Module, given: tuple[Tensor, ...]) -> None:
        ids.append(given[0][0].tolist())

    model.eval()
    embeddings = [part for part in model.modules() if isinstance(part, Embedding)]
    hooks = [part.register_forward_pre_hook(record) for part in embeddings]
    attends = any(isinstance(part, Tap) for part in model.modules())
    try:
        with torch.inference_mode(), listen(model, *([TAPS] if attends else [])) as recorded:
            forward()
    finally:
        for hook in hooks:
            hook.remove()
    stacks: dict[str, list[Tensor]] = {}
    for name, calls in recorded.items():
        if calls:
            weights = calls[0][0]
            heads = weights if weights.dim() == 3 else weights[None]  # a pointer is one head
            stacks.setdefault(find_stack(name), []).append(heads)
    return Recorded(
        ids, {stack: torch.stack(layers).float().cpu().numpy() for stack, layers in stacks.items()}
    )


def find_stack(tap: str) -> str:
    """Return the stack a tap belongs to, from its qualified name."""
    parts = tap.split(".")
    if "copying" in parts:
        return "pointer"
    if "pool" in parts:
        return "pool"
    if "cross" in parts:
        return "cross"
    return parts[0] if parts[0] in ("encoder", "decoder") else "self"
