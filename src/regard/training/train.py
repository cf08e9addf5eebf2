"""From a recipe to a run: prepare the data, train, choose the parameters, evaluate, seal."""

import errno
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from regard import run as folders
from regard import run_files
from regard.device import choose_device, device_of
from regard.errors import FAILING, DiskError, Stopped, UsageError, make_disk_error
from regard.randomness import Purpose, seed_torch
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.task import Texts
from regard.training import checkpoint
from regard.training.allocator import configure_malloc
from regard.training.budget import calibrate, steps_for
from regard.training.finish import finish
from regard.training.journal import Journal
from regard.training.loop import Loop
from regard.training.optimizer import make_optimizers
from regard.training.preparation import Prepared, prepare
from regard.training.resume import check_exists, check_resumable, refuse_changes
from regard.training.start import (
    StartingPoint,
    find_source,
    initialize_from_run,
    layer_rate_factors,
)
from regard.training.state import State
from regard.training.step import Stepper
from regard.training.stop import stop_on_sigterm
from regard.training.watcher import SilentWatcher, Watcher

ALL_THREADS = torch.get_num_threads()
"""One per core, or OMP_NUM_THREADS: two runs on two cores need one thread each."""


def train(
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = False,
    watcher: Watcher | None = None,
    valid: Sequence[Texts] | None = None,
    report: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Train a recipe and return the finished run.

    ``valid`` replaces the held-out examples that are evaluated while training; ``report`` may add a
    page to the run before it is sealed.
    """
    watcher = watcher or SilentWatcher()
    with _raise_disk_errors(folder):
        if resume:
            check_exists(folder)
        else:
            folders.create(folder)
        with folders.lock(folder), stop_on_sigterm():
            if resume:
                check_resumable(recipe, folder, watcher)
            _train(recipe, folder, watcher, resume=resume, valid=valid)
            _seal(folder, report)
        return Run(folder)


def _seal(folder: Path, report: Callable[[Run], None]) -> None:
    """Add the report and seal the run; a report that fails by itself leaves a run without one."""
    try:
        report(folders.open_unsealed(folder))
    except (OSError, DiskError, Stopped):
        raise  # --resume finishes the run again, and writes the report
    except Exception:
        folders.seal(folder)
        raise
    folders.seal(folder)


@contextmanager
def _raise_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (*FAILING, errno.EACCES, errno.EPERM):
            raise make_disk_error(error, f"the run {folder}") from error
        raise


def use_threads(recipe: Recipe) -> int:
    """Use as many threads as the recipe says; return the number."""
    threads = recipe.training.threads or ALL_THREADS
    torch.set_num_threads(threads)
    configure_malloc()
    return threads


def _train(
    recipe: Recipe,
    folder: Path,
    watcher: Watcher,
    *,
    resume: bool,
    valid: Sequence[Texts] | None,
) -> None:
    threads = use_threads(recipe)
    journal = Journal(folder / run_files.JOURNAL)
    try:
        saved = _load_newest_checkpoint(folder, watcher) if resume else None
        prepared = prepare(recipe, watcher, find_source(recipe, folder, resume=resume))
        prepared = prepared if valid is None else prepared._replace(valid=list(valid))
        recipe = prepared.task.recipe  # completed from the data or from another run
        # Steps are counted first: a task may keep the model that it begins with.
        steps = _resumed_steps(saved, recipe, prepared, watcher)
        state, began = initialize(recipe, prepared, _starting_point(saved))
    except BaseException:
        if not resume:
            _remove_empty(folder)
        raise
    made_of = {**_identify(recipe, prepared, threads, began), "steps": steps}
    if saved:
        _restore(state, saved, made_of, watcher, journal)
    (folder / run_files.SEAL).unlink(missing_ok=True)  # a finished run that is trained longer
    folders.write_recipe(folder, recipe)
    prepared.task.tokenizer.save(folder / run_files.TOKENIZER)
    if not saved:
        if resume:
            journal.write("resumed", step=-1)  # discards every earlier event
        where = {"machine": platform.machine(), "device": str(device_of(state.model))}
        journal.write("start", step=0, skipped=prepared.skipped, **made_of, **where)
    carried = began.names if began else ()
    stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps, carried)
    Loop(
        stepper,
        state,
        prepared.valid,
        folder=folder / run_files.CHECKPOINTS,
        journal=journal,
        watcher=watcher,
        made_of=made_of,
    ).run()
    finish(prepared, state, began, folder=folder, watcher=watcher)


def initialize(
    recipe: Recipe, prepared: Prepared, began: StartingPoint | None = None
) -> tuple[State, StartingPoint | None]:
    """Make model and optimizers; with ``began`` given, the other run is not read again."""
    seed_torch(recipe.seed, Purpose.INITIALISATION)
    model = prepared.task.build()
    prepared.task.prepare_model(model, prepared.store)
    began = began or initialize_from_run(model, recipe)
    model.to(choose_device(recipe.training.device))
    decay = recipe.model.start.layer_decay
    factors = layer_rate_factors(began.names, decay) if began else {}
    optimizers = make_optimizers(model, recipe.training.optimizer, factors=factors)
    return State(model, optimizers, ema=recipe.training.ema), began


def _count_steps(recipe: Recipe, prepared: Prepared, watcher: Watcher) -> int:
    def seconds_per_step(seconds: float) -> float:
        watcher.say("timing a few steps to convert the time budget into a number of steps")
        state, began = initialize(recipe, prepared)
        # Parameters that will be unfrozen are timed unfrozen, so that the budget is never exceeded.
        carried = began.names if began and recipe.model.start.unfreeze_after is None else ()
        stepper = Stepper(
            recipe, prepared.task, prepared.store, prepared.stream, steps=1000, carried=carried
        )
        steps_per_epoch = prepared.stream.steps_per_epoch
        return calibrate(
            lambda step: stepper.take(state, step), steps_per_epoch=steps_per_epoch, seconds=seconds
        )

    steps = steps_for(
        recipe.training.budget,
        steps_per_epoch=prepared.stream.steps_per_epoch,
        tokens_per_epoch=prepared.store.tokens,
        seconds_per_step=seconds_per_step,
    )
    epochs = steps / prepared.stream.steps_per_epoch
    watcher.say(f"training for {steps:,} steps, {epochs:.1f} epochs")
    return steps


def _identify(
    recipe: Recipe, prepared: Prepared, threads: int, began: StartingPoint | None
) -> dict[str, Any]:
    """Return what must not change when a run is resumed: actual threads, but no devices."""
    asked = recipe.model_dump(mode="json")
    del asked["training"]["threads"], asked["training"]["device"], asked["decoding"]["device"]
    return {
        "data": prepared.store.fingerprint,
        "tokenizer": prepared.task.tokenizer.fingerprint,
        "recipe": asked,
        "training.threads": threads,
        **({"began": began._asdict()} if began else {}),
    }


def _load_newest_checkpoint(folder: Path, watcher: Watcher) -> checkpoint.Checkpoint | None:
    """Load the newest checkpoint that verifies."""
    found = checkpoint.newest(folder / run_files.CHECKPOINTS, watcher.say)
    if found is None:
        watcher.say("no checkpoint yet: starting again")
    return checkpoint.load(found) if found else None


def _resumed_steps(
    saved: checkpoint.Checkpoint | None, recipe: Recipe, prepared: Prepared, watcher: Watcher
) -> int:
    """Return the total number of steps: as planned, unless the budget is a longer one."""
    if saved is None:
        return _count_steps(recipe, prepared, watcher)
    planned = int(saved.state["made_of"]["steps"])
    budget, before = recipe.training.budget, saved.state["made_of"]["recipe"]["training"]["budget"]
    if budget == before:
        return planned
    steps = _count_steps(recipe, prepared, watcher)
    if steps <= planned:
        raise UsageError(
            f"a resumed run can only be trained longer. Its training.budget was {before} "
            f"({planned:,} steps); {budget} is {steps:,} steps.",
            "Give a larger budget, or start a new run with --run.",
        )
    watcher.say(f"{steps:,} steps instead of {planned:,}: the learning rate follows the new number")
    return steps


def _starting_point(saved: checkpoint.Checkpoint | None) -> StartingPoint | None:
    """Return what a resumed run once carried over from another run."""
    facts = saved.state["made_of"].get("began") if saved else None
    return StartingPoint(**facts) if facts else None


def _restore(
    state: State,
    saved: checkpoint.Checkpoint,
    made_of: dict[str, Any],
    watcher: Watcher,
    journal: Journal,
) -> None:
    """Restore a checkpoint, if the run is still made of the same parts."""
    refuse_changes(saved.state["made_of"], made_of)
    state.from_checkpoint(saved)
    where = str(device_of(state.model))
    journal.write("resumed", step=state.counters.step, steps=made_of["steps"], device=where)
    watcher.say(f"resumed after step {state.counters.step:,}")


def _remove_empty(folder: Path) -> None:
    """Remove a folder in which nothing was trained, so that its name can be used again."""
    (folder / run_files.LOCK).unlink(missing_ok=True)
    with suppress(OSError):  # the error that ended the training matters more
        folder.rmdir()
