"""From a recipe to its task and its examples."""

from collections.abc import Callable, Iterator
from itertools import chain, islice

from regard.data.source import read
from regard.data.split import held_out
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.task import Task
from regard.tasks.translation import Translation
from regard.text.from_recipe import tokenizer_from_recipe
from regard.text.tokenizer import Tokenizer

TASKS: dict[str, type[Translation]] = {"translation": Translation}

Texts = tuple[str, ...]
Examples = Callable[[], Iterator[Texts]]
"""Examples that can be read from the beginning as often as wanted; never all in memory."""


def make_task(recipe: Recipe, tokenizer: Tokenizer) -> Task:
    """Return the task a recipe asks for."""
    return TASKS[recipe.task](recipe, tokenizer)


def make_tokenizer(recipe: Recipe, source: Examples) -> Tokenizer:
    """Train the tokenizer a recipe asks for on every field of the examples."""
    texts = chain.from_iterable(source())
    return tokenizer_from_recipe(recipe.text, texts, seed=recipe.seed)


def examples(recipe: Recipe, split: str) -> Examples:
    """Return the examples of a split: ``train``, ``valid`` or ``test``.

    Without files of its own, ``valid`` is the share of ``train`` that a hash of each example's
    content picks out; ``train`` is then the rest.
    """
    files = {"train": recipe.data.train, "valid": recipe.data.valid, "test": recipe.data.test}
    if split not in files:
        raise UsageError(
            f"a split is train, valid or test. Got {split!r}.", "Name one of the three."
        )
    if split == "test" and not files["test"]:
        return examples(recipe, "valid")
    if files["valid"] or split == "test":
        return lambda: _read(recipe, files[split], split)
    wanted = split == "valid"
    share, seed = recipe.data.holdout, recipe.seed
    return lambda: (
        fields
        for fields in _read(recipe, files["train"], "train")
        if held_out(fields, share=share, seed=seed) == wanted
    )


def first(source: Examples, most: int) -> list[Texts]:
    """Return the first examples of a split, at most ``most``."""
    return list(islice(source(), most))


def _read(recipe: Recipe, files: tuple[str, ...], split: str) -> Iterator[Texts]:
    data = recipe.data
    records = read(
        files,
        format=data.format,
        fields=data.fields,
        languages=data.languages,
        on_bad_line=data.on_bad_line,
        expected=TASKS[recipe.task].fields,
        split=split,
    )
    return (record.fields for record in records)
