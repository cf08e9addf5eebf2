"""From a recipe to a run: prepare, loop, choose the parameters, measure, seal."""

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from regard import run as folders
from regard.data.store import Store
from regard.data.stream import Stream
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.from_recipe import Texts, examples, first, make_task, make_tokenizer
from regard.tasks.task import Task
from regard.training import checkpoint
from regard.training.allocator import keep_pages
from regard.training.budget import calibrate, steps_for
from regard.training.card import model_card
from regard.training.journal import Journal
from regard.training.loop import Loop
from regard.training.optimizer import make_optimizers
from regard.training.randomness import INITIALISATION, seed_torch
from regard.training.state import State
from regard.training.step import Stepper
from regard.training.watcher import Nobody, Watcher

MOST_VALID, MOST_TEST = 2000, 20_000  # examples measured on
SHOWN = 20  # answers kept to be looked at


class Prepared(NamedTuple):
    """Data and task, ready to train on."""

    task: Task
    store: Store
    stream: Stream
    valid: list[Texts]


def train(
    recipe: Recipe, folder: Path, *, resume: bool = False, watcher: Watcher | None = None
) -> Run:
    """Train what a recipe says and return the finished run."""
    watcher = watcher or Nobody()
    if resume:
        _can_resume(folder, recipe)
    else:
        folders.create(folder)
    with folders.locked(folder):
        _train(recipe, folder, watcher, resume=resume)
    return Run(folder)


def _train(recipe: Recipe, folder: Path, watcher: Watcher, *, resume: bool) -> None:
    threads = recipe.training.threads or os.cpu_count() or 1
    torch.set_num_threads(threads)
    keep_pages()
    journal = Journal(folder / folders.JOURNAL)
    try:
        prepared = prepare(recipe, watcher)
    except BaseException:
        if not resume:
            _leave_nothing(folder)
        raise
    state = _fresh_state(recipe, prepared)
    made_of = _made_of(recipe, prepared, threads)
    steps = _restore(state, folder, made_of, watcher, journal) if resume else 0
    folders.write_recipe(folder, recipe)
    prepared.task.tokenizer.save(folder / folders.TOKENIZER)
    steps = steps or _count_steps(recipe, prepared, watcher)
    if not state.standing.step:
        journal.write("start", step=0, steps=steps, **made_of, machine=platform.machine())
    stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps)
    Loop(
        stepper,
        state,
        prepared.valid,
        folder=folder / folders.CHECKPOINTS,
        journal=journal,
        watcher=watcher,
        made_of={**made_of, "steps": steps},
    ).run()
    _finish(recipe, folder, prepared, state, watcher)


def prepare(recipe: Recipe, watcher: Watcher) -> Prepared:
    """Read the data, train the tokenizer, fill the store."""
    source, valid = examples(recipe, "train"), examples(recipe, "valid")
    watcher.say("reading the data and training the tokenizer")
    tokenizer = make_tokenizer(recipe, source)
    task = make_task(recipe, tokenizer)
    store = Store.open_or_write(
        cache_folder(),
        source,
        task.encode,
        key=(recipe.task, tokenizer.fingerprint),
        longest=recipe.text.longest,
    )
    left = f"; {store.counts.overlong:,} were too long" if store.counts.overlong else ""
    watcher.say(f"{len(store):,} examples{left}; {tokenizer.size:,} tokens in the vocabulary")
    stream = Stream(store, seed=recipe.seed, batch_tokens=recipe.training.batch_tokens)
    return Prepared(task, store, stream, first(valid, MOST_VALID))


def cache_folder() -> Path:
    """Where stores of ids are kept between runs."""
    named = os.environ.get("REGARD_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


def _fresh_state(recipe: Recipe, prepared: Prepared) -> State:
    seed_torch(recipe.seed, INITIALISATION)
    model = prepared.task.build()
    prepared.task.begin(model, prepared.store)
    return State(model, make_optimizers(model, recipe.training.optimizer), ema=recipe.training.ema)


def _count_steps(recipe: Recipe, prepared: Prepared, watcher: Watcher) -> int:
    def seconds_per_step() -> float:
        watcher.say("timing a few steps to turn the time budget into a number of steps")
        state = _fresh_state(recipe, prepared)
        stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps=1000)
        steps_per_epoch = prepared.stream.steps_per_epoch
        return calibrate(lambda step: stepper.take(state, step), steps_per_epoch=steps_per_epoch)

    steps = steps_for(
        recipe.training.budget,
        steps_per_epoch=prepared.stream.steps_per_epoch,
        tokens_per_epoch=prepared.store.tokens,
        seconds_per_step=seconds_per_step,
    )
    epochs = steps / prepared.stream.steps_per_epoch
    watcher.say(f"training for {steps:,} steps, {epochs:.1f} times through the data")
    return steps


def _made_of(recipe: Recipe, prepared: Prepared, threads: int) -> dict[str, Any]:
    """Name what a resumed run must still be made of; threads as there are, not as asked."""
    asked = recipe.model_dump(mode="json")
    del asked["training"]["threads"]
    return {
        "data": prepared.store.fingerprint,
        "tokenizer": prepared.task.tokenizer.fingerprint,
        "recipe": asked,
        "training.threads": threads,
    }


def _can_resume(folder: Path, recipe: Recipe) -> None:
    if (folder / folders.SEAL).exists():
        raise UsageError(
            f"{folder} is a finished run; there is nothing to resume.",
            "Train longer in a new folder: raise training.budget and name another --run.",
        )
    if not folder.is_dir():
        raise UsageError(
            f"{folder} does not exist, so it cannot be resumed.",
            "Begin it without --resume.",
        )


def _restore(
    state: State, folder: Path, made_of: dict[str, Any], watcher: Watcher, journal: Journal
) -> int:
    """Take up the newest sound checkpoint; return the number of steps the run was to have."""
    found = checkpoint.newest(folder / folders.CHECKPOINTS, watcher.say)
    if found is None:
        watcher.say("no checkpoint yet: beginning again")
        return 0
    saved = checkpoint.load(found)
    _same(saved.state["made_of"], made_of)
    state.from_checkpoint(saved)
    journal.write("resumed", step=state.standing.step)
    watcher.say(f"resumed after step {state.standing.step:,}")
    return int(saved.state["made_of"]["steps"])


def _same(saved: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with other data, another tokenizer or another recipe."""
    for name in ("recipe", "data", "tokenizer", "training.threads"):
        if saved[name] == now[name]:
            continue
        differs, was, became = name, saved[name], now[name]
        if name == "recipe":
            differs, was, became = next(_differences(saved[name], now[name]))
        raise UsageError(
            f"a resumed run must be made of the same parts. {differs} was {was}; now it is "
            f"{became}.",
            "Put it back as it was, or begin a new run with --run.",
        )


def _differences(saved: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    if isinstance(saved, dict) and isinstance(now, dict):
        for name in sorted(saved.keys() | now.keys()):
            inner = f"{path}.{name}" if path else name
            yield from _differences(saved.get(name), now.get(name), inner)
    elif saved != now:
        yield path, saved, now


def _finish(
    recipe: Recipe, folder: Path, prepared: Prepared, state: State, watcher: Watcher
) -> None:
    """Choose the parameters, measure them as a user would ask, and seal the run."""
    state.put(_chosen(recipe, folder, state))
    folders.write_model(folder, state.model, prepared.task.tokenizer)
    metrics: dict[str, Any] = {}
    for split in ("valid", "test"):
        if split == "test" and not recipe.data.test:
            continue
        watcher.say(f"measuring on {split}")
        measured = prepared.task.measure(
            state.model, first(examples(recipe, split), MOST_TEST), quick=False
        )
        samples = [sample._asdict() for sample in measured.samples[:SHOWN]]
        metrics[split] = {**measured.as_json(), "samples": samples}
    standing = state.standing
    metrics["training"] = {
        "steps": standing.step,
        "seconds": standing.seconds,
        "tokens": standing.tokens,
        "tokens_per_second": standing.tokens / max(standing.seconds, 1e-9),
        "parameters": sum(parameter.numel() for parameter in state.parameters.values()),
        "examples": len(prepared.store),
        "overlong": prepared.store.counts.overlong,
        "data": prepared.store.fingerprint,
        "threads": torch.get_num_threads(),
    }
    folders.write_whole(folder / folders.METRICS, json.dumps(metrics, indent=1, ensure_ascii=False))
    Journal(folder / folders.JOURNAL).write("end", step=standing.step, seconds=standing.seconds)
    folders.write_whole(folder / folders.CARD, model_card(recipe, metrics))
    folders.seal(folder)


def _chosen(recipe: Recipe, folder: Path, state: State) -> dict[str, Tensor]:
    """Return the parameters that become the model: the last, the best, or a mean of several."""
    if recipe.training.keep == "best" and state.best:
        return state.best
    if not recipe.training.average:
        return state.copy()
    saves = checkpoint.checkpoints(folder / folders.CHECKPOINTS)[: recipe.training.average]
    parameters = [load_file(save / checkpoint.name_of("model")) for save in saves]
    return {
        name: torch.stack([each[name] for each in parameters]).mean(dim=0) for name in parameters[0]
    }


def _leave_nothing(folder: Path) -> None:
    """Take back a folder in which nothing was trained, so that the next try need not rename."""
    (folder / folders.LOCK).unlink(missing_ok=True)
    folder.rmdir()
