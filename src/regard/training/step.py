"""One step: the batch is cut into shards, their gradients are summed, every parameter moves once.

    gradient = Σ over shards of ∂(sum of losses) / (number of targets in the whole step)

The loss is summed over real targets and divided once, so that cutting a step into more shards
changes nothing but the rounding. Every random choice in a shard is keyed by (seed, step, shard).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

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


class Stepped(NamedTuple):
    """What one step did."""

    loss: float
    """Plain loss per target."""
    targets: int
    """How many tokens, or labels, were to be told."""
    tokens: int
    """How many tokens were read, on the longer side of a pair."""
    rate: float
    gradient: float
    """Length of the gradient before clipping."""

    @property
    def finite(self) -> bool:
        """Whether loss and gradient are numbers."""
        return math.isfinite(self.loss) and math.isfinite(self.gradient)


class Stepper:
    """Takes steps.

    Args:
        recipe: The whole recipe.
        task: What is lost.
        store: The examples.
        stream: Which of them come when.
        steps: How many steps there will be; the schedule needs it.
        carried: Parameters that were carried over from another run, by name.

    """

    def __init__(
        self,
        recipe: Recipe,
        task: Task,
        store: Store,
        stream: AnyStream,
        steps: int,
        carried: Sequence[str] = (),
    ) -> None:
        self.recipe, self.task, self.store, self.stream = recipe, task, store, stream
        self.steps, self.carried = steps, carried

    @use_onednn()
    def take(self, state: State, step: int) -> Stepped:
        """Take step ``step``; the parameters stay as they are if something was no number."""
        state.model.train()
        self._freeze(state, step)
        for parameter in state.parameters.values():
            parameter.grad = None
        plain, targets, tokens = 0.0, 0, 0
        for shard in range(self.recipe.training.shards):
            lost = self._shard(state, step, shard)
            plain, targets, tokens = plain + lost[0], targets + lost[1], tokens + lost[2]
        gradients = [_numbers(w) for w in state.parameters.values() if w.grad is not None]
        length = float(torch.nn.utils.get_total_norm(gradients)) / targets
        settings = self.recipe.training
        factor = rate_factor(settings.schedule, step, self.steps, width=self.recipe.model.width)
        rate = factor * settings.optimizer.rate
        stepped = Stepped(plain / targets, targets, tokens, rate, length)
        if stepped.finite:
            shorten = min(1.0, settings.clip / (length + 1e-6)) if settings.clip else 1.0
            torch._foreach_mul_(gradients, shorten / targets)
            self._move(state, factor)
        return stepped

    def _freeze(self, state: State, step: int) -> None:
        """Say by the step alone whether what was carried over learns."""
        settings = self.recipe.model.start
        if settings.freeze:
            frozen = is_frozen(settings, step, steps_per_epoch=self.stream.steps_per_epoch)
            for name in self.carried:
                state.parameters[name].requires_grad_(not frozen)

    def _shard(self, state: State, step: int, shard: int) -> tuple[float, int, int]:
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

    def _move(self, state: State, factor: float) -> None:
        for optimizer in state.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = factor * group["rate"]
            optimizer.step()
        state.follow()


def _numbers(parameter: torch.nn.Parameter) -> Tensor:
    """Return a gradient's numbers, to be measured and shortened in place; of rows, those read."""
    assert parameter.grad is not None
    if not parameter.grad.is_sparse:
        return parameter.grad
    parameter.grad = parameter.grad.coalesce()
    return parameter.grad._values()
