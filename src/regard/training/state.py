"""The state of a training: everything that changes, in one place, saved and restored whole."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regard.device import device_of
from regard.training.checkpoint import Checkpoint

KNOWN = ".known"  # how the names of buffers end that another run may have settled


@dataclass
class Standing:
    """The few numbers that change as training goes."""

    step: int = 0
    seconds: float = 0.0
    """Spent on steps; measuring and saving are not counted."""
    tokens: int = 0
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    """Evaluations since the best one."""
    skipped: list[int] = field(default_factory=list)
    """Steps whose loss or gradient was no number."""


class State:
    """Model, optimizers, averaged parameters and standing.

    Args:
        model: The model that learns.
        optimizers: Those that together step every parameter.
        ema: How slowly the averaged copy forgets; 0 keeps none.

    """

    def __init__(
        self, model: nn.Module, optimizers: list[torch.optim.Optimizer], *, ema: float
    ) -> None:
        self.model, self.optimizers, self.forgetting = model, optimizers, ema
        self.parameters = dict(model.named_parameters())
        self.ema = {n: w.detach().clone() for n, w in self.parameters.items()} if ema else {}
        self.best: dict[str, Tensor] = {}
        self.standing = Standing()
        self._names = {id(parameter): name for name, parameter in self.parameters.items()}

    @torch.no_grad()
    def follow(self) -> None:
        """Let the averaged copy follow the parameters by one step."""
        if self.ema:
            # Early on the copy forgets faster, or it would remember the random start.
            keep = min(self.forgetting, (1 + self.standing.step) / (10 + self.standing.step))
            torch._foreach_lerp_(list(self.ema.values()), list(self.parameters.values()), 1 - keep)

    def copy(self) -> dict[str, Tensor]:
        """Copy the parameters to answer with: the averaged ones where there are some."""
        return {n: w.detach().clone() for n, w in (self.ema or self.parameters).items()}

    @torch.no_grad()
    def put(self, parameters: dict[str, Tensor]) -> None:
        """Give the model these parameters."""
        for name, parameter in self.parameters.items():
            parameter.copy_(parameters[name])

    def to_checkpoint(self, made_of: dict[str, Any]) -> Checkpoint:
        """Everything, to be saved; ``made_of`` names the data, tokenizer and recipe."""
        tensors = {
            "model": {n: w.detach() for n, w in self.parameters.items()},
            "optimizer": self._optimizer_tensors(),
        }
        if known := {n: b for n, b in self.model.named_buffers() if n.endswith(KNOWN)}:
            tensors["known"] = known
        if self.ema:
            tensors["ema"] = self.ema
        if self.best:
            tensors["best"] = self.best
        return Checkpoint(tensors, {**vars(self.standing), "made_of": made_of})

    def from_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Become what was saved."""
        self.put(checkpoint.tensors["model"])
        device = device_of(self.model)
        for name, known in checkpoint.tensors.get("known", {}).items():
            part = self.model.get_submodule(name.removesuffix(KNOWN))
            part.register_buffer(KNOWN[1:], known.to(device))
        for name, tensor in checkpoint.tensors.get("ema", {}).items():
            self.ema[name].copy_(tensor)
        self.best = checkpoint.tensors.get("best", {})
        by_name: dict[str, dict[str, Tensor]] = {}
        for key, tensor in checkpoint.tensors["optimizer"].items():
            name, _, entry = key.rpartition("/")
            by_name.setdefault(name, {})[entry] = tensor.to(device)
        for optimizer in self.optimizers:
            for parameter in _parameters_of(optimizer):
                if self._names[id(parameter)] in by_name:
                    optimizer.state[parameter] = by_name[self._names[id(parameter)]]
        facts = {n: v for n, v in checkpoint.state.items() if n != "made_of"}
        self.standing = Standing(**facts)

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        return {
            f"{self._names[id(parameter)]}/{entry}": tensor
            for optimizer in self.optimizers
            for parameter in _parameters_of(optimizer)
            for entry, tensor in optimizer.state[parameter].items()
        }


def _parameters_of(optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
