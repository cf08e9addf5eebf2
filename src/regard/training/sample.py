"""A look at the data: its first texts, read as training reads them, stand for all of it.

What a step costs depends on how long texts are, on either side of a pair and sentence by sentence.
So the first examples are cut into tokens by the recipe's own tokenizer, trained on them alone, and
put into batches by the recipe's own task. Where there are more examples than were looked at, those
are repeated if they fill few batches: sorted among few, texts would be padded more than they will
be. (No more often than needed: copies of a text stand in one batch, and share their n-grams.) The
vocabulary is then the recipe's; if that was all, it is the one that was found.
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
from regard.training.synthetic_data import alone, wordy

ALL, TEXTS = 3_000_000, 10_000  # characters and examples up to which all are looked at
CHARACTERS = 1_000_000  # and how many of more
ENOUGH = 20  # batches from which on padding hardly depends on their number


class Sample(NamedTuple):
    """The first examples of a recipe's data, ready to train on."""

    prepared: Prepared
    examples: int
    whole: bool
    """Whether there are no others."""
    vocabulary: int | None
    """Tokens there are, where the data has said so."""
    labelled: bool
    """Whether labels were found there."""


def look(recipe: Recipe, folder: Path) -> Sample:
    """Read the beginning of the data; ``folder`` takes its ids."""
    recipe = alone(recipe)
    found, whole = _first(recipe)
    kind = task_class(recipe)
    labelled = kind.has_labels and not (recipe.data.labels or recipe.data.scores)
    try:
        recipe = kind.complete(recipe, lambda: iter(found))
    except DataError:
        # Data may be sorted by label, and its first texts all have the same.
        if whole or not kind.has_labels:
            raise
        recipe, labelled = kind.complete_without_data(recipe), False
        found = [(*ex[:-1], *kind.synthetic_fields(recipe, n)) for n, ex in enumerate(found)]
    task = make_task(recipe, make_tokenizer(recipe, lambda: iter(found)))
    encoded = dict(zip(found, task.encode(found), strict=True))
    settled = whole or recipe.text.tokenizer == "characters"
    vocabulary = task.tokenizer.size if settled else None
    if not settled and task.tokenizer.size < recipe.text.vocabulary:
        task = wordy(recipe, recipe.text.vocabulary)
    prepared = _dealt(task, found, encoded, folder)
    if not whole and prepared.stream.steps_per_epoch < ENOUGH:
        copies = math.ceil(ENOUGH / prepared.stream.steps_per_epoch)
        prepared = _dealt(task, copies * found, encoded, folder)
    return Sample(prepared, len(found), whole, vocabulary, labelled)


def _first(recipe: Recipe) -> tuple[list[Texts], bool]:
    """Read the first examples; say whether those are all that will be learned from."""
    # What is held back from the end can be told only by reading to the end.
    counted = not recipe.data.valid and recipe.data.holdout_from == "end"
    every = read_examples(recipe, recipe.data.train, "train")
    source = every if counted else examples(recipe, "train")()
    found: list[Texts] = []
    total = enough = 0
    for example in source:
        enough += total < CHARACTERS
        total += sum(map(len, example))
        found.append(example)
        if total > ALL or len(found) > TEXTS:
            some = found[: min(enough, TEXTS)]
            return [tuple(text[:CHARACTERS] for text in one) for one in some], False
    return found, not counted


def _dealt(
    task: Task[Any], found: list[Texts], encoded: dict[Texts, tuple[list[int], ...]], folder: Path
) -> Prepared:
    """Put examples that are encoded already into a store, and that into batches."""
    store = Store.open_or_write(
        folder,
        lambda: iter(found),
        lambda some: [encoded[example] for example in some],
        key=("sample", task.tokenizer.fingerprint, *task.encoded_by),
        longest=task.longest,
    )
    return Prepared(task, store, task.stream(store), lambda: iter(found), [])
