"""Before the first step: the data read, the tokenizer trained or taken, the ids stored."""

from itertools import islice
from typing import Any, NamedTuple

from regard.data.store import Store
from regard.data.stream import AnyStream
from regard.errors import DataError
from regard.files import cache_folder
from regard.recipe.recipe import Recipe
from regard.tasks.examples import examples, first
from regard.tasks.kinds import make_task, make_tokenizer, task_class
from regard.tasks.task import Examples, Task, Texts
from regard.training.start import Source
from regard.training.watcher import Watcher

MOST_VALID, MOST_TEST = 2000, 20_000  # examples measured on while training, and at its end


class Prepared(NamedTuple):
    """Data and task, ready to train on."""

    task: Task[Any]
    store: Store
    stream: AnyStream
    source: Examples
    valid: list[Texts]


def prepare(recipe: Recipe, watcher: Watcher, begin: Source | None = None) -> Prepared:
    """Read the data, train the tokenizer or take that of the run to begin from, fill the store."""
    recipe = begin.complete(recipe) if begin else recipe
    watcher.say("reading the data" if begin else "reading the data and training the tokenizer")
    recipe = task_class(recipe).complete(recipe, examples(recipe, "train"))
    source, valid = examples(recipe, "train"), examples(recipe, "valid")
    _can_be_read(recipe)
    tokenizer = begin.parts.tokenizer if begin else make_tokenizer(recipe, source)
    task = make_task(recipe, tokenizer)
    store = Store.open_or_write(
        cache_folder(),
        source,
        task.encode,
        key=(recipe.task, tokenizer.fingerprint, *task.encoded_by),
        longest=task.longest,
    )
    left = f"; {store.counts.overlong:,} were too long" if store.counts.overlong else ""
    watcher.say(f"{len(store):,} examples{left}; {tokenizer.size:,} tokens in the vocabulary")
    return Prepared(task, store, task.stream(store), source, first(valid, MOST_VALID))


def _can_be_read(recipe: Recipe) -> None:
    """Meet what is wrong with the examples to be measured on now, not when training is over."""
    for split in ("valid", "test") if recipe.data.test else ("valid",):
        found = sum(1 for _ in islice(examples(recipe, split)(), MOST_TEST))
        if not found and not recipe.data.valid:
            raise DataError(
                f"nothing is left to measure on: data.holdout = {recipe.data.holdout} picks none "
                "of the examples in data.train.",
                'Hold out more, or of one long text its end (data.holdout_from = "end"), or name '
                "files in data.valid.",
            )
