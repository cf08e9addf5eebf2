"""The examples of a recipe: which files they come from, and what is held out."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from regard.data.check import Report
from regard.data.encoding import find_encoding
from regard.data.source import WORLD, RecordReader
from regard.data.split import is_held_out, split_at_end
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import task_class
from regard.tasks.task import Examples, Texts

SPLITS = ("train", "valid", "test")


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
    share, seed = recipe.data.holdout, find_split_seed(recipe)
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


def find_split_seed(recipe: Recipe) -> int:
    """Return the seed that decides what is held out."""
    chosen = recipe.data.holdout_seed
    return recipe.seed if chosen is None else chosen


def check_examples(recipe: Recipe) -> Report:
    """Check the data of every split, as training would read it."""
    report = task_class(recipe).check(recipe)
    report.skip = recipe.data.on_bad_line == "skip"
    return report


def require_files(recipe: Recipe) -> None:
    """Refuse a recipe whose files are not there; name all of them, and how to name others."""
    splits = {split: getattr(recipe.data, split) for split in SPLITS}
    missing = {
        split: [file for file in files if not file.startswith(WORLD) and not _exists(file)]
        for split, files in splits.items()
    }
    if not any(missing.values()):
        return
    named = "; ".join(f"data.{split}: {', '.join(each)}" for split, each in missing.items() if each)
    sides = ", ".join('"FILE"' for _ in splits["train"][:2])
    yours = {"train": f"[{sides}]"}
    sets = [f"--set 'data.{split}={yours.get(split, '[]')}'" for split in SPLITS if missing[split]]
    sets += ["--set 'data.fields=[]'"] if recipe.data.fields else []
    raise UsageError(
        f"There is no such file, and the recipe needs it: {named}.",
        f"Put the files there, or name your own: {' '.join(sets)}. The comments at the top "
        "of the recipe name its files; paths are relative to the recipe's own folder, for a "
        "shipped recipe to the current one.",
    )


def _exists(file: str) -> bool:
    return Path(file).expanduser().exists()


def count_skipped(recipe: Recipe) -> dict[str, dict[str, int]]:
    """Count the bad lines that are skipped, by split and kind; only if the recipe skips any."""
    found: dict[str, dict[str, int]] = {}
    for split in SPLITS if recipe.data.on_bad_line == "skip" else ():
        if files := getattr(recipe.data, split):
            reader = task_class(recipe).read_records(recipe, files, split)
            for _ in reader:
                pass
            if reader.skipped:
                found[split] = dict(reader.skipped_kinds)
    return found


def first(source: Examples, most: int) -> list[Texts]:
    """Return the first examples of a split, at most ``most``."""
    return list(islice(source(), most))


def read_examples(recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Texts]:
    """Read files as the recipe says."""
    return task_class(recipe).read_examples(recipe, files, split)


def read_other_files(
    recipe: Recipe, files: Sequence[str], fields: Sequence[str] = (), *, skip: bool = False
) -> RecordReader:
    """Read files that the recipe does not name: in their own encoding, and perhaps columns."""
    data = recipe.data
    changes = {
        "encoding": find_encoding(files[0], data.encoding),
        "fields": tuple(fields) or data.fields,
        "on_bad_line": "skip" if skip else data.on_bad_line,
    }
    adapted = recipe.model_copy(update={"data": data.model_copy(update=changes)})
    return task_class(recipe).read_records(adapted, files, "test")
