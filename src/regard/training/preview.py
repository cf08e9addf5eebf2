"""A preview of a training on this machine: steps, seconds, memory, and what to expect of it."""

import tempfile
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from regard.account.fit import format_bytes, required_memory
from regard.account.limits import memory_free
from regard.account.time import Pace, forecast
from regard.errors import UsageError
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe
from regard.tasks.scores import format_duration
from regard.training.sample import DataSample, read_sample
from regard.training.step_timing import (
    batch_loads,
    sample_facts,
    seconds_per_step,
    typical_load,
)

PATIENCE = 0.3  # seconds in which steps are timed
MOST = 10_000  # texts that an expectation may look at


class Preview(NamedTuple):
    """What a training will take, by a few steps on the first texts."""

    steps: int | None
    seconds: float | None
    """Of the steps alone, without evaluation and baseline; None where it is not known."""
    pace: float
    """Seconds of a step."""
    memory: int | None
    """Bytes; None for a task without an account."""
    free: int | None
    expectation: str
    """In words; empty where there is no quick one."""

    def describe(self) -> list[str]:
        """Say it in sentences."""
        lines = []
        if self.steps is not None and self.seconds is not None:
            lines.append(
                f"training takes about {format_duration(self.seconds)} on this machine: "
                f"{self.steps:,} steps of {self.pace:.2g} s; evaluation and baseline come on top"
            )
        if self.memory is not None:
            free = "" if self.free is None else f"; {format_bytes(self.free)} are free"
            lines.append(f"it needs about {format_bytes(self.memory)} of memory{free}")
        return [*lines, *([f"to expect: {self.expectation}"] if self.expectation else [])]

    def as_json(self) -> dict[str, Any]:
        """Return it under names that scripts rely on."""
        return self._asdict()


def preview(recipe: Recipe, records: int) -> Preview:
    """Time a few steps on the first of this many training records."""
    with tempfile.TemporaryDirectory() as folder:
        sample = read_sample(recipe, Path(folder))
        prepared = sample.prepared
        pace, tokens = seconds_per_step(prepared, patience=PATIENCE)
        per_epoch: float = prepared.stream.steps_per_epoch
        if not sample.whole:
            held_out = 0.0 if recipe.data.valid else recipe.data.holdout
            per_epoch *= records * (1 - held_out) / len(prepared.store)
        found = forecast(recipe.training.budget, Pace(pace, tokens, "", max(1, round(per_epoch))))
        texts = list(islice(prepared.source(), MOST))
        return Preview(
            found.steps,
            found.seconds,
            pace,
            _predict_memory(recipe, sample),
            memory_free(),
            prepared.task.describe_expectation(texts),
        )


def _predict_memory(recipe: Recipe, sample: DataSample) -> int | None:
    recipe = recipe.model_copy(update={"data": sample.prepared.task.recipe.data})
    try:
        loads = batch_loads(sample.prepared)
        facts: Facts = sample_facts(recipe, sample, loads)
        return required_memory(recipe, facts, typical_load(recipe, facts, loads))
    except UsageError:  # a task without an account
        return None
