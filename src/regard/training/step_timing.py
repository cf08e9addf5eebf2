"""A rehearsal: real steps of a recipe, to learn what steps cost on this machine.

Everything is the recipe's own: task, model, optimizer, batches, and the texts that the data begins
with. Where they are not there, or another length is asked for, texts are made up. What is learned
is thrown away.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.account.facts import facts_of, told_lengths
from regard.account.machine import flops
from regard.account.observed import observed
from regard.account.operations import operations
from regard.account.plan import ledger_of
from regard.account.time import Pace, extrapolated
from regard.data.stream import AnyStream
from regard.device import choose_device
from regard.ledger.load import Facts, Load
from regard.randomness import Purpose, seed_torch
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import make_task, task_class
from regard.training.optimizer import make_optimizers
from regard.training.preparation import Prepared, prepare
from regard.training.sample import Sample, look
from regard.training.state import State
from regard.training.step import Stepper
from regard.training.synthetic_data import Pages, alone, made_up
from regard.training.watcher import SilentWatcher

LEAST, MOST = 3, 31  # steps that are timed; the most are also the batches that are looked at
ORDERED = 1000  # steps of an epoch that are put in order to choose from
SLOW = 2.0  # seconds of a step from which on shallow models stand in
HALFWAY = 0.5  # through a training, in which fewer and fewer tokens may be hidden

Clock = Callable[[], float]


class Rehearsed(NamedTuple):
    """What a recipe's data settles, and how fast steps go."""

    recipe: Recipe
    """With the labels that were found."""
    facts: Facts
    load: Load
    """A typical batch."""
    pace: Pace | None


def on_first_texts(recipe: Recipe, *, timed: bool) -> Rehearsed:
    """Look at the first texts of the data, and time steps on them."""
    with tempfile.TemporaryDirectory() as folder:
        sample = look(recipe, Path(folder))
        prepared = sample.prepared
        recipe = recipe.model_copy(update={"data": prepared.task.recipe.data})
        loads = loads_of(prepared)
        facts = _facts(recipe, sample, loads)
        load = typical(recipe, facts, loads)
        found = pace(prepared, facts, load, on=_first(sample)) if timed else None
        if found and sample.whole:
            found = found._replace(steps_per_epoch=prepared.stream.steps_per_epoch)
        return Rehearsed(recipe, facts, load, found)


def on_made_up(recipe: Recipe, facts: Facts, load: Load) -> Pace:
    """Time steps on made-up texts as long as the load's."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = made_up(recipe, Pages(facts.vocabulary, load.length), Path(folder))
        return pace(prepared, facts, load, on="made-up text")


def on_data(recipe: Recipe) -> Rehearsed:
    """Read all of the data as training does, and time steps on it."""
    prepared = prepare(alone(recipe), SilentWatcher())
    recipe = recipe.model_copy(update={"data": prepared.task.recipe.data})
    loads = loads_of(prepared)
    _, state = on_stage(recipe, prepared)
    facts = observed(state.model, prepared.task.tokenizer.size)
    facts = facts._replace(assumed=told_lengths(recipe, loads, "all texts of the data"))
    load = typical(recipe, facts, loads)
    found = pace(prepared, facts, load, on="its data")
    found = found._replace(steps_per_epoch=prepared.stream.steps_per_epoch)
    return Rehearsed(recipe, facts, load, found)


def on_stage(recipe: Recipe, prepared: Prepared) -> tuple[Stepper, State]:
    """Build the model and what moves it, for data that is ready."""
    seed_torch(recipe.seed, Purpose.INITIALISATION)
    model = prepared.task.build()
    prepared.task.begin(model, prepared.store)
    model.to(choose_device(recipe.training.device))
    optimizers = make_optimizers(model, recipe.training.optimizer)
    state = State(model, optimizers, ema=recipe.training.ema)
    stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps=1000)
    return stepper, state


def loads_of(prepared: Prepared) -> list[Load]:
    """Say what batches hold, some of them spread over one epoch."""
    task, store, stream = prepared.task, prepared.store, prepared.stream
    shards, seed = task.recipe.training.shards, task.recipe.seed
    loads = []
    for step in spread(stream):
        numbers = stream.select_shard(step, shard=0, shards=shards)
        batch = task.batch(store, numbers, (seed, Purpose.BATCH, step, 0), progress=HALFWAY)
        loads.append(task.load(batch))
    return loads


def spread(stream: AnyStream) -> list[int]:
    """Choose steps of one epoch, any first few of which stand for all: batches of many rows or few.

    In order of their rows: the middle one, then those at a quarter and three, at an eighth, and so
    on (van der Corput 1935).
    """
    steps = stream.steps_per_epoch
    some = np.unique(np.linspace(0, steps - 1, min(steps, ORDERED)).astype(int))
    order = some[np.argsort([len(stream[int(step)]) for step in some], kind="stable")]
    places = [int(f"{n:b}"[::-1], 2) / 2 ** n.bit_length() for n in range(1, MOST + 1)]
    return [int(order[int(place * len(order))]) for place in places]


def typical(recipe: Recipe, facts: Facts, loads: list[Load]) -> Load:
    """Choose the batch whose operations come nearest to the mean of all."""
    costs = [operations(recipe, ledger_of(recipe, facts, load)).step for load in loads]
    mean = sum(costs) / len(costs)
    return min(zip(costs, loads, strict=True), key=lambda pair: abs(pair[0] - mean))[1]


def pace(prepared: Prepared, facts: Facts, load: Load, *, on: str) -> Pace:
    """Find out how fast steps go here; deep models that are slow are timed by shallow ones."""
    recipe = prepared.task.recipe
    entries = ledger_of(recipe, facts, load)
    expected = operations(recipe, entries).step / recipe.training.shards
    if expected / flops(torch.float32, 0.05) < SLOW:
        seconds, tokens = seconds_per_step(prepared)
        return Pace(seconds, tokens, f"steps taken here on {on}")
    seconds, tokens = _by_shallow_ones(prepared)
    return Pace(seconds, tokens, f"steps of shallower models, taken here on {on}")


def seconds_per_step(prepared: Prepared, *, patience: float = 2.0) -> tuple[float, float]:
    """Time steps for about ``patience`` seconds; return seconds and tokens of one step.

    Steps cut into shards are timed by one shard, and the optimizer apart.
    """
    settings = prepared.task.recipe.training
    shards = settings.shards
    if shards > 1:
        tokens_of_one = max(1, settings.batch_tokens // shards)
        prepared = _changed(prepared, "training", shards=1, batch_tokens=tokens_of_one)
    stepper, state = on_stage(prepared.task.recipe, prepared)
    taken, tokens = timed(stepper, state, patience=patience)
    moving = _moving(state) if shards > 1 else 0.0
    return shards * taken - (shards - 1) * moving, shards * tokens


def timed(
    stepper: Stepper, state: State, *, patience: float, clock: Clock = time.perf_counter
) -> tuple[float, float]:
    """Return the mean seconds and tokens of steps spread over one epoch, after a first one."""
    places = spread(stepper.stream)
    begin = clock()
    stepper.take(state, places[0])
    least = 1 if clock() - begin > patience else LEAST
    seconds: list[float] = []
    tokens: list[int] = []
    while len(seconds) < least or (sum(seconds) < patience and len(seconds) < MOST):
        begin = clock()
        stepped = stepper.take(state, places[len(seconds)])
        seconds.append(clock() - begin)
        tokens.append(stepped.tokens)
    return float(np.mean(seconds)), float(np.mean(tokens))


def _by_shallow_ones(prepared: Prepared) -> tuple[float, float]:
    """Add what one more block costs, on either side of a translator, as often as there are more."""
    recipe = prepared.task.recipe
    once = {"depth": 1, "decoder_depth": 1}

    def at(**depths: int) -> tuple[float, float]:
        return seconds_per_step(_changed(prepared, "model", **once | depths))

    first, tokens = at()
    seconds = extrapolated(first, at(depth=2)[0], recipe.model.depth)
    if task_class(recipe).writes_target:
        deeper = at(decoder_depth=2)[0]
        seconds += extrapolated(first, deeper, recipe.model.decoder_depth) - first
    return seconds, tokens


def _changed(prepared: Prepared, table: str, **values: Any) -> Prepared:  # noqa: ANN401 - any setting's
    """Return the same texts for a recipe with other settings."""
    recipe = prepared.task.recipe
    changed = getattr(recipe, table).model_copy(update=values)
    task = make_task(recipe.model_copy(update={table: changed}), prepared.task.tokenizer)
    return prepared._replace(task=task, stream=task.stream(prepared.store))


def _moving(state: State) -> float:
    begin = time.perf_counter()
    for optimizer in state.optimizers:
        optimizer.step()
    return time.perf_counter() - begin


def _facts(recipe: Recipe, sample: Sample, loads: list[Load]) -> Facts:
    """Say what the first texts settle, and in words what was taken from them."""
    facts = facts_of(recipe, vocabulary=sample.vocabulary)
    words = told_lengths(recipe, loads, _first(sample))
    if sample.labelled and not sample.whole:
        words = (*words, f"the {facts.labels} labels of {_first(sample)}")
    return facts._replace(assumed=(*facts.assumed, *words))


def _first(sample: Sample) -> str:
    return f"{'all' if sample.whole else 'the first'} {sample.examples:,} texts of the data"
