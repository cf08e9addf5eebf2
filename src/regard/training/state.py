"""The state of a training: everything that changes in a step, saved and restored as a whole."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regard.device import device_of
from regard.training.checkpoint import Checkpoint

KNOWN = ".known"  # ends the names of buffers that may come from another run


@dataclass
class Counters:
    """How far a training is; the field names are those in a checkpoint's ``state.json``."""

    step: int = 0
    seconds: float = 0.0
    """Spent on steps, without evaluating and saving."""
    tokens: int = 0
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    """Evaluations since the best one."""
    skipped: list[int] = field(default_factory=list)
    """Steps whose loss or gradient was NaN or infinite."""


class State:
    """Model, optimizers, averaged parameters and counters.

    Args:
        model: The model in training.
        optimizers: Those that together step every parameter.
        ema: Decay of the exponential moving average of the parameters; 0 for none.

    """

    def __init__(
        self, model: nn.Module, optimizers: list[torch.optim.Optimizer], *, ema: float
    ) -> None:
        self.model, self.optimizers, self.decay = model, optimizers, ema
        self.parameters = dict(model.named_parameters())
        self.ema = {n: w.detach().clone() for n, w in self.parameters.items()} if ema else {}
        self.best: dict[str, Tensor] = {}
        self.counters = Counters()
        self._names = {id(parameter): name for name, parameter in self.parameters.items()}

    @torch.no_grad()
    def update_average(self) -> None:
        """Update the moving average by one step."""
        if self.ema:
            # A faster decay early on, or the average would keep the random initialization.
            keep = min(self.decay, (1 + self.counters.step) / (10 + self.counters.step))
            torch._foreach_lerp_(list(self.ema.values()), list(self.parameters.values()), 1 - keep)

    def copy_parameters(self) -> dict[str, Tensor]:
        """Copy the parameters to evaluate: the averaged ones where there are some."""
        return {n: w.detach().clone() for n, w in (self.ema or self.parameters).items()}

    @torch.no_grad()
    def load_parameters(self, parameters: dict[str, Tensor]) -> None:
        """Copy these parameters into the model."""
        for name, parameter in self.parameters.items():
            parameter.copy_(parameters[name])

    def find_not_finite(self) -> str:
        """Return the first parameter, averages included, that holds NaN or infinite numbers."""
        kept = (("", self.parameters), ("its average of ", self.ema), ("the best ", self.best))
        return next(
            (
                f"{of}{name}"
                for of, parameters in kept
                for name, parameter in parameters.items()
                if not parameter.isfinite().all()
            ),
            "",
        )

    def to_checkpoint(self, made_of: dict[str, Any]) -> Checkpoint:
        """Return everything to save; ``made_of`` identifies data, tokenizer and recipe."""
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
        return Checkpoint(tensors, {**vars(self.counters), "made_of": made_of})

    def from_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Restore what was saved."""
        self.load_parameters(checkpoint.tensors["model"])
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
        self.counters = Counters(**facts)

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        return {
            f"{self._names[id(parameter)]}/{entry}": tensor
            for optimizer in self.optimizers
            for parameter in _parameters_of(optimizer)
            for entry, tensor in optimizer.state[parameter].items()
        }


def _parameters_of(optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
