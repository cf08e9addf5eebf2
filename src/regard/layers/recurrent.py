"""Recurrence as a mixer: each state depends on the one before it.

    GRU    h(t) = (1 - z) ⊙ n + z ⊙ h(t-1)                       (Cho et al. 2014)
    LSTM   c(t) = f ⊙ c(t-1) + i ⊙ g,  h(t) = o ⊙ tanh(c(t))     (Hochreiter, Schmidhuber 1997)

A mixer that is not causal is bidirectional, with half of the width for each direction. The backward
direction begins at each row's last token, so that padding has no effect. Padding is on the right.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.memory import Memory

Cell = Literal["gru", "lstm"]
_CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}


class Recurrent(nn.Module):
    """A GRU or an LSTM, in one direction or in both.

    Args:
        width: Size of one state; even if not causal, as each direction has half of it.
        cell: The recurrent cell.
        causal: Whether states depend on earlier positions only.
        entering: Size of the input states, if it is not ``width``.

    """

    def __init__(
        self, width: int, *, cell: Cell = "gru", causal: bool, entering: int | None = None
    ) -> None:
        super().__init__()
        if not causal and width % 2:
            raise ValueError(
                f"Each of the two directions has half of the width, so width must be even. "
                f"Got width={width}; {width + 1} fits."
            )
        hidden, entering = width if causal else width // 2, entering or width
        self.onward = _CELLS[cell](entering, hidden, batch_first=True)
        self.back = None if causal else _CELLS[cell](entering, hidden, batch_first=True)

    def forward(
        self,
        states: Float[Tensor, "batch position entering"],
        *,
        visible: Bool[Tensor, "#batch 1 #position key"],
        memory: Memory | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Run the cell over ``states``; with ``memory``, from the state of the last call."""
        if self.back is None:
            return self._continue(states, memory)
        if memory is not None:
            raise ValueError(
                "Only a causal mixer can generate step by step from a memory. Got memory for a "
                "bidirectional mixer; make it causal."
            )
        mirrored = _mirror(visible[:, 0, -1], states)
        onward = _run_cell(self.onward, states)[0]
        back = _run_cell(self.back, _gather(states, mirrored))[0]
        return torch.cat([onward, _gather(back, mirrored)], dim=-1)

    def _continue(self, states: Tensor, memory: Memory | None) -> Tensor:
        if memory is None:
            return _run_cell(self.onward, states)[0]
        names = ("hidden", "cell") if isinstance(self.onward, nn.LSTM) else ("hidden",)
        past = tuple(memory[name].transpose(0, 1).contiguous() for name in names if name in memory)
        begin = (past if len(names) > 1 else past[0]) if past else None
        outputs, end = _run_cell(self.onward, states, begin)
        for name, tensor in zip(names, end if len(names) > 1 else (end,), strict=True):
            memory[name] = tensor.transpose(0, 1)
        memory.positions += states.shape[1]
        return outputs


def _run_cell(
    cell: nn.RNNBase, states: Tensor, begin: Tensor | tuple[Tensor, ...] | None = None
) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
    """Run a cell in its own precision, as many CPUs have no LSTM in half precision."""
    with torch.autocast(states.device.type, enabled=False):
        return cell(states.to(next(cell.parameters()).dtype), begin)


def _mirror(
    real: Bool[Tensor, "#batch position"], states: Float[Tensor, "batch position width"]
) -> Int[Tensor, "batch position"]:
    """Return the reversed positions of each row; padding is not moved."""
    places = torch.arange(states.shape[1], device=states.device)
    mirrored = real.sum(dim=-1, keepdim=True) - 1 - places
    return torch.where(mirrored >= 0, mirrored, places).expand(len(states), -1)


def _gather(
    states: Float[Tensor, "batch position half"], places: Int[Tensor, "batch position"]
) -> Float[Tensor, "batch position half"]:
    return states.gather(1, places[:, :, None].expand_as(states))
