"""Step timing: a few real steps of a recipe, to measure what a step costs on this machine.

Task, model, optimizer and batches are the recipe's own, and the texts are the first ones of its
data. Without data, or for another length, the texts are synthetic. The trained model is discarded.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.account.facts import describe_lengths, facts_of
from regard.account.machine import flops
from regard.account.observed import facts_of_model
from regard.account.operations import operations
from regard.account.plan import ledger_of
from regard.account.time import Pace, extrapolate
from regard.data.stream import AnyStream
from regard.device import choose_device
from regard.ledger.load import Facts, Load
from regard.randomness import Purpose, seed_torch
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import make_task, task_class
from regard.training.optimizer import make_optimizers
from regard.training.preparation import Prepared, prepare
from regard.training.sample import DataSample, read_sample
from regard.training.state import State
from regard.training.step import Stepper
from regard.training.synthetic_data import TextShape, drop_start, make_synthetic_data
from regard.training.watcher import SilentWatcher

MIN_TIMED, MAX_TIMED = 3, 31  # steps; the maximum is also the number of batches inspected
CANDIDATES = 1000  # steps of an epoch to choose from
SLOW = 2.0  # seconds per step from which on shallower models are timed instead
HALFWAY = 0.5  # of a training, in which the share of masked tokens may fall

Clock = Callable[[], float]


class Timing(NamedTuple):
    """What the data of a recipe determines, and the time per step."""

    recipe: Recipe
    """With the labels found in the data."""
    facts: Facts
    load: Load
    """A typical batch."""
    pace: Pace | None


def time_on_sample(recipe: Recipe, *, timed: bool) -> Timing:
    """Read the first texts of the data, and time steps on them."""
    with tempfile.TemporaryDirectory() as folder:
        sample = read_sample(recipe, Path(folder))
        prepared = sample.prepared
        recipe = recipe.model_copy(update={"data": prepared.task.recipe.data})
        loads = batch_loads(prepared)
        facts = sample_facts(recipe, sample, loads)
        load = typical_load(recipe, facts, loads)
        found = measure_pace(prepared, facts, load, on=_describe_sample(sample)) if timed else None
        if found and sample.whole:
            found = found._replace(steps_per_epoch=prepared.stream.steps_per_epoch)
        return Timing(recipe, facts, load, found)


def time_on_synthetic_text(recipe: Recipe, facts: Facts, load: Load) -> Pace:
    """Time steps on synthetic texts as long as the load's."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = make_synthetic_data(
            recipe, TextShape(facts.vocabulary, load.length), Path(folder)
        )
        return measure_pace(prepared, facts, load, on="synthetic text")


def time_on_data(recipe: Recipe) -> Timing:
    """Read all of the data as training does, and time steps on it."""
    prepared = prepare(drop_start(recipe), SilentWatcher())
    recipe = recipe.model_copy(update={"data": prepared.task.recipe.data})
    loads = batch_loads(prepared)
    _, state = build_training(recipe, prepared)
    facts = facts_of_model(state.model, prepared.task.tokenizer.size)
    facts = facts._replace(assumed=describe_lengths(recipe, loads, "all texts of the data"))
    load = typical_load(recipe, facts, loads)
    found = measure_pace(prepared, facts, load, on="its data")
    found = found._replace(steps_per_epoch=prepared.stream.steps_per_epoch)
    return Timing(recipe, facts, load, found)


def build_training(recipe: Recipe, prepared: Prepared) -> tuple[Stepper, State]:
    """Build model, optimizers and stepper for prepared data."""
    seed_torch(recipe.seed, Purpose.INITIALISATION)
    model = prepared.task.build()
    prepared.task.prepare_model(model, prepared.store)
    model.to(choose_device(recipe.training.device))
    optimizers = make_optimizers(model, recipe.training.optimizer)
    state = State(model, optimizers, ema=recipe.training.ema)
    stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps=1000)
    return stepper, state


def batch_loads(prepared: Prepared) -> list[Load]:
    """Return the loads of some batches, spread over one epoch."""
    task, store, stream = prepared.task, prepared.store, prepared.stream
    shards, seed = task.recipe.training.shards, task.recipe.seed
    loads = []
    for step in representative_steps(stream):
        numbers = stream.select_shard(step, shard=0, shards=shards)
        batch = task.batch(store, numbers, (seed, Purpose.BATCH, step, 0), progress=HALFWAY)
        loads.append(task.load(batch))
    return loads


def representative_steps(stream: AnyStream) -> list[int]:
    """Choose steps of one epoch, the first few of which already represent batches of all sizes.

    By number of rows: the median, the quartiles, the eighths, and so on (van der Corput 1935).
    """
    steps = stream.steps_per_epoch
    some = np.unique(np.linspace(0, steps - 1, min(steps, CANDIDATES)).astype(int))
    order = some[np.argsort([len(stream[int(step)]) for step in some], kind="stable")]
    places = [int(f"{n:b}"[::-1], 2) / 2 ** n.bit_length() for n in range(1, MAX_TIMED + 1)]
    return [int(order[int(place * len(order))]) for place in places]


def typical_load(recipe: Recipe, facts: Facts, loads: list[Load]) -> Load:
    """Choose the load whose number of operations is nearest to the mean."""
    costs = [operations(recipe, ledger_of(recipe, facts, load)).step for load in loads]
    mean = sum(costs) / len(costs)
    return min(zip(costs, loads, strict=True), key=lambda pair: abs(pair[0] - mean))[1]


def measure_pace(prepared: Prepared, facts: Facts, load: Load, *, on: str) -> Pace:
    """Time steps on this machine; slow deep models are extrapolate from shallow ones."""
    recipe = prepared.task.recipe
    entries = ledger_of(recipe, facts, load)
    expected = operations(recipe, entries).step / recipe.training.shards
    if expected / flops(torch.float32, 0.05) < SLOW:
        seconds, tokens = seconds_per_step(prepared)
        return Pace(seconds, tokens, f"steps timed on {on}")
    seconds, tokens = _extrapolate_from_shallow(prepared)
    return Pace(seconds, tokens, f"steps of shallower models, timed on {on}")


def seconds_per_step(prepared: Prepared, *, patience: float = 2.0) -> tuple[float, float]:
    """Time steps for about ``patience`` seconds; return seconds and tokens of one step.

    Steps cut into shards are timed by one shard, and the optimizer apart.
    """
    settings = prepared.task.recipe.training
    shards = settings.shards
    if shards > 1:
        tokens_of_one = max(1, settings.batch_tokens // shards)
        prepared = _with_settings(prepared, "training", shards=1, batch_tokens=tokens_of_one)
    stepper, state = build_training(prepared.task.recipe, prepared)
    taken, tokens = time_steps(stepper, state, patience=patience)
    optimizing = _time_optimizers(state) if shards > 1 else 0.0
    return shards * taken - (shards - 1) * optimizing, shards * tokens


def time_steps(
    stepper: Stepper, state: State, *, patience: float, clock: Clock = time.perf_counter
) -> tuple[float, float]:
    """Return the mean seconds and tokens of steps spread over one epoch, after a first one."""
    steps = representative_steps(stepper.stream)
    begin = clock()
    stepper.take(state, steps[0])
    least = 1 if clock() - begin > patience else MIN_TIMED
    seconds: list[float] = []
    tokens: list[int] = []
    while len(seconds) < least or (sum(seconds) < patience and len(seconds) < MAX_TIMED):
        begin = clock()
        result = stepper.take(state, steps[len(seconds)])
        seconds.append(clock() - begin)
        tokens.append(result.tokens)
    return float(np.mean(seconds)), float(np.mean(tokens))


def _extrapolate_from_shallow(prepared: Prepared) -> tuple[float, float]:
    """Add the cost of one more block, of the encoder and of the decoder, once per further block."""
    recipe = prepared.task.recipe
    once = {"depth": 1, "decoder_depth": 1}

    def at(**depths: int) -> tuple[float, float]:
        return seconds_per_step(_with_settings(prepared, "model", **once | depths))

    first, tokens = at()
    seconds = extrapolate(first, at(depth=2)[0], recipe.model.depth)
    if task_class(recipe).writes_target:
        deeper = at(decoder_depth=2)[0]
        seconds += extrapolate(first, deeper, recipe.model.decoder_depth) - first
    return seconds, tokens


def _with_settings(prepared: Prepared, table: str, **values: Any) -> Prepared:  # noqa: ANN401 - any setting's
    """Return the same data for a recipe with other settings."""
    recipe = prepared.task.recipe
    changed = getattr(recipe, table).model_copy(update=values)
    task = make_task(recipe.model_copy(update={table: changed}), prepared.task.tokenizer)
    return prepared._replace(task=task, stream=task.stream(prepared.store))


def _time_optimizers(state: State) -> float:
    begin = time.perf_counter()
    for optimizer in state.optimizers:
        optimizer.step()
    return time.perf_counter() - begin


def sample_facts(recipe: Recipe, sample: DataSample, loads: list[Load]) -> Facts:
    """Return the facts that the sample determines, with the assumptions in words."""
    facts = facts_of(recipe, vocabulary=sample.vocabulary)
    words = describe_lengths(recipe, loads, _describe_sample(sample))
    if sample.labelled and not sample.whole:
        words = (*words, f"the {facts.labels} labels of {_describe_sample(sample)}")
    return facts._replace(assumed=(*facts.assumed, *words))


def _describe_sample(sample: DataSample) -> str:
    return f"{'all' if sample.whole else 'the first'} {sample.examples:,} texts of the data"
