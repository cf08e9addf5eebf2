"""Trials: data prepared once per tokenizer, and a record from which a search is resumed.

plan.json       what is searched, with which seed and how many steps
trials.jsonl    one line per finished trial of a rung
runs/NUMBER     the finalists, which are complete runs
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import DiskError, RegardError, Stopped, TrainingError
from regard.files import write_whole
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import make_task
from regard.tasks.task import Texts
from regard.training.budget import steps_for
from regard.training.preparation import Prepared, prepare
from regard.training.start import Source, find_source
from regard.training.watcher import SilentWatcher, Watcher

TRIALS = "trials.jsonl"
DONE, FAILED, LEFT_OUT = "done", "failed", "left out"


class Record(NamedTuple):
    """One trial on one rung."""

    trial: int
    rung: int
    changes: dict[str, Any]
    steps: int = 0
    score: float | None = None
    """On the search's half of the held-out examples; None for a trial that failed."""
    seconds: float = 0.0
    bytes: int = 0
    """Of the model file."""
    status: str = DONE
    problem: str = ""
    """Why the trial was left out or failed."""


class Records:
    """The finished trials of a search.

    Args:
        file: Where they are kept.

    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.all = list(_read(file))
        # A line cut short by a kill would spoil the next one.
        write_whole(file, "".join(_line(record) for record in self.all))

    def find(self, trial: int, rung: int) -> Record | None:
        """Return a trial's record on a rung, if it is finished."""
        return next((r for r in self.all if (r.trial, r.rung) == (trial, rung)), None)

    def add(self, record: Record) -> None:
        """Append a finished trial."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(_line(record))
        self.all.append(record)


class Bench:
    """Prepares recipes that differ in their settings only; every tokenizer is trained once.

    Args:
        recipe: The recipe itself.
        folder: The folder of the search.
        watcher: Receives messages.

    """

    def __init__(self, recipe: Recipe, folder: Path, watcher: Watcher) -> None:
        self.source: Source | None = find_source(recipe, folder, resume=False)
        self._prepared: dict[str, Prepared] = {}
        self.first = prepare(recipe, watcher, self.source)
        self.recipe = self.first.task.recipe
        self.valid: list[Texts] = self.first.valid
        self._keep(self.first)

    def complete(self, recipe: Recipe) -> Recipe:
        """Fill in a recipe from the run that it starts from, and refuse one that does not fit."""
        return self.source.complete(recipe) if self.source else recipe

    def prepare(self, recipe: Recipe) -> Prepared:
        """Return the data for a recipe, evaluated on the search's examples."""
        key = _tokenizer_key(recipe)
        if key not in self._prepared:
            self._keep(prepare(recipe, SilentWatcher(), self.source))
        found = self._prepared[key]
        task = make_task(self.complete(recipe), found.task.tokenizer)
        if (task.encoding_key, task.longest) != (found.task.encoding_key, found.task.longest):
            found = prepare(recipe, SilentWatcher(), self.source)
            task = found.task
        stream = task.stream(found.store)
        return found._replace(task=task, stream=stream, valid=self.valid)

    def _keep(self, prepared: Prepared) -> None:
        self._prepared[_tokenizer_key(prepared.task.recipe)] = prepared


def count_steps(prepared: Prepared, seconds_per_step: float = 1.0, budget: str = "") -> int:
    """Return the steps of a budget, or of the recipe's own."""
    return steps_for(
        budget or prepared.task.recipe.training.budget,
        steps_per_epoch=prepared.stream.steps_per_epoch,
        tokens_per_epoch=prepared.store.tokens,
        seconds_per_step=lambda _seconds: seconds_per_step,
    )


def describe_failure(error: Exception) -> str:
    """Say why a trial failed; raise what is no fault of the trial."""
    if isinstance(error, Stopped | DiskError):
        raise error
    if isinstance(error, TrainingError):
        return "the loss is NaN or infinite"
    if isinstance(error, RegardError):
        return error.problem
    refused = isinstance(error, RuntimeError) and "memory" in str(error).lower()  # torch's own
    if refused or isinstance(error, MemoryError):
        return "there was not enough memory"
    raise error


def check_score(score: float) -> float:
    """Refuse a score that is NaN or infinite."""
    if not math.isfinite(score):
        raise TrainingError("the score is NaN or infinite.", "Lower training.optimizer.rate.")
    return score


def _tokenizer_key(recipe: Recipe) -> str:
    return recipe.text.model_copy(update={"dropout": 0.0}).model_dump_json()


def _line(record: Record) -> str:
    return json.dumps(record._asdict(), ensure_ascii=False) + "\n"


def _read(file: Path) -> Iterator[Record]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            yield Record(**json.loads(line))
        except (ValueError, TypeError):
            continue  # cut short by a kill
