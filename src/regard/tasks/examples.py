"""The examples of a recipe: which files they come from, and what is held out."""

from collections.abc import Iterator, Sequence
from itertools import islice

from regard.data.split import is_held_out, split_at_end
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import task_class
from regard.tasks.task import Examples, Texts


def examples(recipe: Recipe, split: str) -> Examples:
    """Return the examples of a split: ``train``, ``valid`` or ``test``.

    Without files of its own, ``valid`` is the share of ``train`` that a hash of each example's
    content, or of its group, picks out, or the end of it; ``train`` is then the rest.
    """
    files = {"train": recipe.data.train, "valid": recipe.data.valid, "test": recipe.data.test}
    if split not in files:
        raise UsageError(
            f"a split is train, valid or test. Got {split!r}.", "Name one of the three."
        )
    if split == "test" and not files["test"]:
        return examples(recipe, "valid")
    if files["valid"] or split == "test":
        return lambda: read_examples(recipe, files[split], split)
    wanted = split == "valid"
    share, seed = recipe.data.holdout, recipe.seed
    if recipe.data.holdout_from == "end":
        return lambda: split_at_end(
            lambda: read_examples(recipe, files["train"], "train"), share=share, wanted=wanted
        )
    task = task_class(recipe)
    return lambda: (
        record.fields
        for record in task.read_records(recipe, files["train"], "train")
        if is_held_out(record.fields, share=share, seed=seed, group=record.group) == wanted
    )


def first(source: Examples, most: int) -> list[Texts]:
    """Return the first examples of a split, at most ``most``."""
    return list(islice(source(), most))


def read_examples(recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Texts]:
    """Read files as the recipe says."""
    return task_class(recipe).read_examples(recipe, files, split)
