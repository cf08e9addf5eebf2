"""One step: the batch is cut into shards, their gradients are summed, parameters updated once.

    gradient = Σ over shards of ∂(sum of losses) / (number of targets in the whole step)

The loss is summed over real targets and divided once, so that cutting a step into more shards
changes nothing but the rounding. Every random choice in a shard is keyed by (seed, step, shard).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.data.store import Store
from regard.data.stream import AnyStream
from regard.device import device_of
from regard.layers.dropout import keyed
from regard.randomness import Purpose
from regard.recipe.recipe import Recipe
from regard.tasks.task import Task
from regard.training.onednn_matmul import use_onednn
from regard.training.schedule import rate_factor
from regard.training.start import is_frozen
from regard.training.state import State


class StepResult(NamedTuple):
    """The outcome of one step."""

    loss: float
    """Loss per target, without smoothing."""
    targets: int
    """Number of tokens or labels that were predicted."""
    tokens: int
    """Number of input tokens; of a pair, those of the longer side."""
    rate: float
    gradient: float
    """Norm of the gradient before clipping."""

    @property
    def finite(self) -> bool:
        """Whether loss and gradient are finite."""
        return math.isfinite(self.loss) and math.isfinite(self.gradient)


class Stepper:
    """Takes steps.

    Args:
        recipe: The whole recipe.
        task: Makes batches and computes the loss.
        store: The examples.
        stream: The order of examples.
        steps: The total number of steps, for the schedule.
        carried: Names of the parameters that were carried over from another run.

    """

    def __init__(
        self,
        recipe: Recipe,
        task: Task[Any],
        store: Store,
        stream: AnyStream,
        steps: int,
        carried: Sequence[str] = (),
    ) -> None:
        self.recipe, self.task, self.store, self.stream = recipe, task, store, stream
        self.steps, self.carried = steps, carried

    @use_onednn()
    def take(self, state: State, step: int) -> StepResult:
        """Take step ``step``; a loss or gradient that is not finite leaves the parameters alone."""
        state.model.train()
        self._freeze(state, step)
        for parameter in state.parameters.values():
            parameter.grad = None
        loss, targets, tokens = 0.0, 0, 0
        for shard in range(self.recipe.training.shards):
            summed, count, read = self._backward(state, step, shard)
            loss, targets, tokens = loss + summed, targets + count, tokens + read
        gradients = [_gradient_values(w) for w in state.parameters.values() if w.grad is not None]
        norm = float(torch.nn.utils.get_total_norm(gradients)) / targets
        settings = self.recipe.training
        factor = rate_factor(settings.schedule, step, self.steps, width=self.recipe.model.width)
        rate = factor * settings.optimizer.rate
        result = StepResult(loss / targets, targets, tokens, rate, norm)
        if result.finite:
            clip_factor = min(1.0, settings.clip / (norm + 1e-6)) if settings.clip else 1.0
            torch._foreach_mul_(gradients, clip_factor / targets)
            self._update(state, factor)
        return result

    def _freeze(self, state: State, step: int) -> None:
        """Freeze or unfreeze the parameters that were carried over."""
        settings = self.recipe.model.start
        if settings.freeze:
            frozen = is_frozen(settings, step, steps_per_epoch=self.stream.steps_per_epoch)
            for name in self.carried:
                state.parameters[name].requires_grad_(not frozen)

    def _backward(self, state: State, step: int, shard: int) -> tuple[float, int, int]:
        """Add a shard's gradients; return its summed loss and its numbers of targets and tokens."""
        seed, shards = self.recipe.seed, self.recipe.training.shards
        numbers = self.stream.select_shard(step, shard=shard, shards=shards)
        if not len(numbers):
            return 0.0, 0, 0
        key = (seed, Purpose.BATCH, step, shard)
        batch = self.task.batch(self.store, numbers, key, progress=step / self.steps)
        batch = batch.to(device_of(state.model))
        with keyed(seed, Purpose.DROPOUT, step, shard):
            loss = self.task.loss(state.model, batch)
        loss.smoothed.backward()
        return loss.plain, loss.tokens, max(field.tokens for field in batch.fields)

    def _update(self, state: State, factor: float) -> None:
        for optimizer in state.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = factor * group["rate"]
            optimizer.step()
        state.update_average()


def _gradient_values(parameter: torch.nn.Parameter) -> Tensor:
    """Return a gradient's values, to be clipped in place; of a sparse one, its rows."""
    assert parameter.grad is not None
    if not parameter.grad.is_sparse:
        return parameter.grad
    parameter.grad = parameter.grad.coalesce()
    return parameter.grad._values()
