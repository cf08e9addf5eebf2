"""Convolution as a mixer: each position hears from a few neighbours, near or spaced apart.

    y(t) = b + Σⱼ W(j) · x(t + (j - left)·dilation),  j = 0 … kernel - 1
    left = kernel - 1 if causal, the middle otherwise      (Gehring et al. 2017; Kalchbrenner
                                                           et al. 2016 for the dilated one)

Neighbours beyond either end, and padding, count as zero. Padding stands on the right.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.layers.memory import Memory


class Convolution(nn.Module):
    """One convolution over positions.

    Args:
        width: Size of one state.
        kernel: How many positions one output sees.
        dilation: How far apart those positions stand.
        causal: Whether positions hear only from those before them.

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
        """Convolve ``states``; with ``memory``, after those of the calls before."""
        real = visible[:, 0, -1, -states.shape[1] :, None]
        states = states.masked_fill(~real, 0.0)
        if memory is not None:
            before = self._before(states, memory)
        else:
            left = self.reach if self.causal else self.reach // 2
            before = nn.functional.pad(states, (0, 0, left, self.reach - left))
        return self.convolve(before.transpose(1, 2)).transpose(1, 2)

    def _before(self, states: Tensor, memory: Memory) -> Tensor:
        """``states`` behind the last few that were kept; the last few of both are kept."""
        if not self.causal:
            raise ValueError(
                "Memory carries a sequence forward, so only a causal mixer has one. "
                "Got memory for a mixer that sees both sides; make it causal."
            )
        past = memory.get("inputs")
        if past is None:
            past = states.new_zeros(len(states), self.reach, states.shape[2])
        joined = torch.cat([past, states], dim=1)
        memory["inputs"] = joined[:, joined.shape[1] - self.reach :]
        memory.positions += states.shape[1]
        return joined
