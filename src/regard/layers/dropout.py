"""Dropout: while training, a share of the numbers is zeroed and the rest scaled up.

    y = x ⊙ mask / (1 - p),   P(mask = 0) = p            (Srivastava et al. 2014)

The mask is drawn byte by byte from SFC64: a number is zeroed when its byte is below 256·p. So p
is rounded to 1/256, and the scale is that of the rounded share: the mean is kept exactly. Inside
``with keyed(seed, step):`` every mask is a pure function of the key. It is drawn on the CPU and
moved, so that it is the same on every device.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

_LEVELS = 256
_source: ContextVar[np.random.SFC64 | None] = ContextVar("dropout source", default=None)


@contextmanager
def keyed(*key: int) -> Iterator[None]:
    """Draw every mask inside from this key: the same key and the same calls, the same masks."""
    token = _source.set(np.random.SFC64(list(key)))
    try:
        yield
    finally:
        _source.reset(token)


class Dropout(nn.Module):
    """x ⊙ mask / (1 - p) while training, x otherwise.

    Args:
        share: Share of the numbers zeroed, at least 0 and below 1; rounded to 1/256.

    """

    def __init__(self, share: float) -> None:
        super().__init__()
        if not 0.0 <= share < 1.0:
            raise ValueError(
                f"A dropout share is at least 0 and below 1. Got {share}; 0.1 is usual."
            )
        self.share = share
        self.dropped_levels = min(round(share * _LEVELS), _LEVELS - 1)

    def forward(self, states: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        if not (self.training and self.dropped_levels):
            return states
        mask = _mask(states, self.dropped_levels)
        scale = _LEVELS / (_LEVELS - self.dropped_levels)
        return _Masked.apply(states, mask, scale)  # type: ignore[no-untyped-call]

    def extra_repr(self) -> str:
        return f"share={self.share}"


def _mask(states: Float[Tensor, "*axes"], dropped: int) -> UInt8[Tensor, "*axes"]:
    """Draw 1 where a number is kept and 0 where it is zeroed."""
    source = _source.get()
    if source is None:
        source = np.random.SFC64(int(torch.randint(2**62, ())))
    count = states.numel()
    levels = source.random_raw(-(-count // 8)).view(np.uint8)[:count]
    mask = torch.from_numpy((levels >= dropped).view(np.uint8)).view(states.shape)
    return mask.to(states.device)


class _Masked(torch.autograd.Function):
    """x ⊙ mask · scale, storing one byte per number for the backward pass.

    The mask is bytes and not booleans because torch turns bytes into floats seven times faster.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, mask: Tensor, scale: float) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return mask.to(states.dtype).mul_(states).mul_(scale)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        (mask,) = ctx.saved_tensors
        return mask.to(gradient.dtype).mul_(gradient).mul_(ctx.scale), None, None
