"""A sample of the data: its first examples, prepared as training prepares all of them.

The cost of a step depends on the lengths of texts, on either side of a pair and sentence by
sentence. So the first examples are encoded by the recipe's tokenizer, trained on them alone, and
batched by the recipe's task. If there are more examples and the sample fills few batches, it is
repeated, since bucketing few texts by length would pad more than training does. (No more often than
needed: copies of a text fall into one batch, and share their n-grams.) The vocabulary size is then
the recipe's; if the sample is the whole data, it is the tokenizer's.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.store import Store
from regard.errors import DataError
from regard.recipe.recipe import Recipe
from regard.tasks.examples import examples, read_examples
from regard.tasks.kinds import make_task, make_tokenizer, task_class
from regard.tasks.task import Task, Texts
from regard.training.preparation import Prepared
from regard.training.synthetic_data import drop_start, task_over_synthetic_words

MAX_CHARACTERS, MAX_TEXTS = 3_000_000, 10_000  # up to these all of the data is read
SAMPLE_CHARACTERS = 1_000_000  # of more data
MIN_BATCHES = 20  # from here on padding hardly depends on their number


class DataSample(NamedTuple):
    """The first examples of a recipe's data, prepared for training."""

    prepared: Prepared
    examples: int
    whole: bool
    """Whether they are all there are."""
    vocabulary: int | None
    """Tokens in the vocabulary, where the data determines them."""
    labelled: bool
    """Whether the labels were found in them."""


def read_sample(recipe: Recipe, folder: Path) -> DataSample:
    """Read the beginning of the data; its ids are stored in ``folder``."""
    recipe = drop_start(recipe)
    found, whole = _read_first(recipe)
    kind = task_class(recipe)
    labelled = kind.has_labels and not (recipe.data.labels or recipe.data.scores)
    try:
        recipe = kind.complete(recipe, lambda: iter(found))
    except DataError:
        # The data may be sorted by label, so that its first texts all have the same one.
        if whole or not kind.has_labels:
            raise
        recipe, labelled = kind.complete_without_data(recipe), False
        found = [(*ex[:-1], *kind.synthetic_fields(recipe, n)) for n, ex in enumerate(found)]
    task = make_task(recipe, make_tokenizer(recipe, lambda: iter(found)))
    encoded = dict(zip(found, task.encode(found), strict=True))
    settled = whole or recipe.text.tokenizer == "characters"
    vocabulary = task.tokenizer.size if settled else None
    if not settled and task.tokenizer.size < recipe.text.vocabulary:
        task = task_over_synthetic_words(recipe, recipe.text.vocabulary)
    prepared = _batch(task, found, encoded, folder)
    if not whole and prepared.stream.steps_per_epoch < MIN_BATCHES:
        copies = math.ceil(MIN_BATCHES / prepared.stream.steps_per_epoch)
        prepared = _batch(task, copies * found, encoded, folder)
    return DataSample(prepared, len(found), whole, vocabulary, labelled)


def _read_first(recipe: Recipe) -> tuple[list[Texts], bool]:
    """Read the first examples; return whether they are all of the training data."""
    # A holdout at the end is known only after reading to the end.
    counted = not recipe.data.valid and recipe.data.holdout_from == "end"
    every = read_examples(recipe, recipe.data.train, "train")
    source = every if counted else examples(recipe, "train")()
    found: list[Texts] = []
    total = enough = 0
    for example in source:
        enough += total < SAMPLE_CHARACTERS
        total += sum(map(len, example))
        found.append(example)
        if total > MAX_CHARACTERS or len(found) > MAX_TEXTS:
            some = found[: min(enough, MAX_TEXTS)]
            return [tuple(text[:SAMPLE_CHARACTERS] for text in one) for one in some], False
    return found, not counted


def _batch(
    task: Task[Any], found: list[Texts], encoded: dict[Texts, tuple[list[int], ...]], folder: Path
) -> Prepared:
    """Store encoded examples and make a stream of batches."""
    store = Store.open_or_write(
        folder,
        lambda: iter(found),
        lambda some: [encoded[example] for example in some],
        key=("sample", task.tokenizer.fingerprint, *task.encoding_key),
        longest=task.longest,
    )
    return Prepared(task, store, task.stream(store), lambda: iter(found), [])
