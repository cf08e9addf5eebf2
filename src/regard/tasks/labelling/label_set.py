"""The label set of the training data, and checks of labels."""

import math
from collections import Counter

from regard.errors import DataError
from regard.recipe.data import DataSettings
from regard.recipe.recipe import Recipe
from regard.tasks.labelling.labels import Labels, OneLabel, Score, split
from regard.tasks.labelling.several_labels import SeveralLabels
from regard.tasks.task import Examples

MANY = 100  # labels above which most of them must occur twice
SHOWN = 8  # labels listed in a message


def labels_from_recipe(data: DataSettings) -> Labels:
    """Return the labels of complete settings."""
    if data.scores:
        assert data.score_range is not None
        return Score(*data.score_range)
    if data.label_separator:
        return SeveralLabels(data.labels, data.label_separator)
    return OneLabel(data.labels)


def complete_labels(recipe: Recipe, source: Examples) -> Recipe:
    """Write the labels of the training examples, or the range of their scores, into the recipe."""
    found = _score_range(recipe.data, source) if recipe.data.scores else _labels(recipe, source)
    return recipe.model_copy(update={"data": recipe.data.model_copy(update=found)})


def wrong_label(data: DataSettings, written: str) -> tuple[str, str] | None:
    """Return problem and remedy for an invalid label; None for a valid one."""
    if data.scores:
        return _wrong_score(written)
    parts = split(written, data.label_separator)
    for label in parts:
        if data.labels and label not in data.labels:
            return (
                f"A label must occur in the training data. Got {label!r}; known labels are "
                f"{_list_some(data.labels)}.",
                "Correct the label, or add examples of it to data.train.",
            )
    if not parts and not data.label_separator:
        return "There is no label.", "Add at least one label."
    return None


def _wrong_score(written: str) -> tuple[str, str] | None:
    try:
        finite = math.isfinite(float(written))
    except ValueError:
        finite = False
    if finite:
        return None
    return (
        f"With data.scores the last field must be a number. Got {written!r}.",
        "Correct it, or name the right columns in data.fields.",
    )


def _labels(recipe: Recipe, source: Examples) -> dict[str, object]:
    data = recipe.data
    counts: Counter[str] = Counter()
    texts = 0
    for *_, written in source():
        texts += 1
        counts.update(split(written, data.label_separator))
    if len(counts) < 2:
        raise DataError(
            f"there must be at least two labels. Got {_list_some(list(counts))} in all {texts:,} "
            "training examples.",
            "Add examples of another label, or check that data.fields names the right column.",
        )
    if len(counts) > max(MANY, texts / 2):
        raise DataError(
            f"labels must occur repeatedly. Got {len(counts):,} different ones in "
            f"{texts:,} training examples, such as {_list_some(sorted(counts))}.",
            "Name the right columns in data.fields; for numbers set data.scores = true.",
        )
    return {"labels": data.labels or tuple(sorted(counts))}


def _score_range(data: DataSettings, source: Examples) -> dict[str, object]:
    if data.score_range is not None:
        return {}
    low, high = math.inf, -math.inf
    for *_, written in source():
        low, high = min(low, float(written)), max(high, float(written))
    if not low < high:
        raise DataError(
            f"scores must differ. Got {low:g} in every training example.",
            "Add examples of other scores, or check that data.fields names the right column.",
        )
    return {"score_range": (low, high)}


def _list_some(labels: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:SHOWN])
    return f"{shown} and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else shown
