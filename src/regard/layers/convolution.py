"""Convolution as a mixer: each output depends on a few neighbouring positions, or dilated ones.

    y(t) = b + Σⱼ W(j) · x(t + (j - left)·dilation),  j = 0 … kernel - 1
    left = kernel - 1 if causal, the middle otherwise      (Gehring et al. 2017; Kalchbrenner
                                                           et al. 2016 for the dilated one)

Positions beyond either end, and padding, count as zero. Padding is on the right.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.memory import Memory


class Convolution(nn.Module):
    """One convolution over positions.

    Args:
        width: Size of one state.
        kernel: Kernel size: number of positions that one output depends on.
        dilation: Distance between those positions.
        causal: Whether outputs depend on earlier positions only.

    """

    def __init__(self, width: int, *, kernel: int, dilation: int = 1, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.reach = (kernel - 1) * dilation
        self.convolve = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(
        self,
        states: Float[Tensor, "batch position width"],
        *,
        visible: Bool[Tensor, "#batch 1 #position key"],
        memory: Memory | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Convolve ``states``; with ``memory``, they continue those of earlier calls."""
        real = visible[:, 0, -1, -states.shape[1] :, None]
        states = states.masked_fill(~real, 0.0)
        if memory is not None:
            padded = self._prepend_past(states, memory)
        else:
            left = self.reach if self.causal else self.reach // 2
            padded = nn.functional.pad(states, (0, 0, left, self.reach - left))
        return self.convolve(padded.transpose(1, 2)).transpose(1, 2)

    def _prepend_past(self, states: Tensor, memory: Memory) -> Tensor:
        """Prepend the cached inputs, and cache the last inputs of both."""
        if not self.causal:
            raise ValueError(
                "Only a causal mixer can generate step by step from a memory. Got memory for a "
                "bidirectional mixer; make it causal."
            )
        past = memory.get("inputs")
        if past is None:
            past = states.new_zeros(len(states), self.reach, states.shape[2])
        joined = torch.cat([past, states], dim=1)
        memory["inputs"] = joined[:, joined.shape[1] - self.reach :]
        memory.positions += states.shape[1]
        return joined
