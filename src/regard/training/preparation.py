"""Before the first step: read the data, train or load the tokenizer, store the ids."""

from itertools import islice
from typing import Any, NamedTuple

from regard.data.store import Store
from regard.data.stream import AnyStream
from regard.errors import DataError
from regard.files import cache_folder
from regard.recipe.recipe import Recipe
from regard.tasks.examples import count_skipped, examples, first, require_files
from regard.tasks.kinds import make_task, make_tokenizer, task_class
from regard.tasks.task import Examples, Task, Texts
from regard.training.start import Source
from regard.training.watcher import Watcher

MAX_VALID, MAX_TEST = 2000, 20_000  # examples evaluated while training, and after it


class Prepared(NamedTuple):
    """Task and data, ready for training."""

    task: Task[Any]
    store: Store
    stream: AnyStream
    source: Examples
    valid: list[Texts]
    skipped: dict[str, dict[str, int]] = {}  # noqa: RUF012 - never written to
    """Bad lines by split and kind, if the recipe skips them."""


def prepare(recipe: Recipe, watcher: Watcher, start: Source | None = None) -> Prepared:
    """Read the data, train the tokenizer or take the source run's, store the ids."""
    recipe = start.complete(recipe) if start else recipe
    watcher.say("reading the data" if start else "reading the data and training the tokenizer")
    require_files(recipe)
    recipe = task_class(recipe).complete(recipe, examples(recipe, "train"))
    source, valid = examples(recipe, "train"), examples(recipe, "valid")
    _check_evaluation_data(recipe)
    tokenizer = start.parts.tokenizer if start else make_tokenizer(recipe, source)
    task = make_task(recipe, tokenizer)
    store = Store.open_or_write(
        cache_folder(),
        source,
        task.encode,
        key=(recipe.task, tokenizer.fingerprint, *task.encoding_key),
        longest=task.longest,
        say=watcher.say,
    )
    left = f"; {store.counts.overlong:,} were too long" if store.counts.overlong else ""
    watcher.say(f"{len(store):,} examples{left}; {tokenizer.size:,} tokens in the vocabulary")
    skipped = count_skipped(recipe)
    for split, kinds in skipped.items():
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        total = sum(kinds.values())
        lines = "line" if total == 1 else "lines"
        watcher.say(f"{total:,} bad {lines} of {split} skipped ({counts})")
    return Prepared(task, store, task.stream(store), source, first(valid, MAX_VALID), skipped)


def _check_evaluation_data(recipe: Recipe) -> None:
    """Read the evaluation data now, so that its mistakes do not surface after training."""
    for split in ("valid", "test") if recipe.data.test else ("valid",):
        found = sum(1 for _ in islice(examples(recipe, split)(), MAX_TEST))
        if not found and not recipe.data.valid:
            raise DataError(
                f"there are no examples to evaluate on: data.holdout = {recipe.data.holdout} "
                "selects none of those in data.train.",
                'Raise data.holdout, hold out the end of one long text (data.holdout_from = "end") '
                "or name files in data.valid.",
            )
