"""Synthetic text, to time steps without data: words drawn uniformly from a vocabulary.

Task, model, optimizer and batches are the recipe's own; only the examples are synthetic.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.data.store import Store
from regard.recipe.recipe import Recipe
from regard.tasks.kinds import make_task, make_tokenizer, task_class
from regard.tasks.task import Task, Texts
from regard.training.preparation import Prepared

SENTENCE = 12  # words
BATCHES = 4  # steps that the synthetic text lasts for


class TextShape(NamedTuple):
    """How much synthetic text to make."""

    vocabulary: int
    length: int
    """Mean tokens of a text; exact where ``equal``."""
    equal: bool = False
    """Whether all texts have the same length."""


def make_synthetic_data(recipe: Recipe, shape: TextShape, folder: Path) -> Prepared:
    """Make enough examples for a few steps; their ids are stored in ``folder``."""
    recipe = drop_start(recipe)
    recipe = task_class(recipe).complete_without_data(recipe)
    task = task_over_synthetic_words(recipe, shape.vocabulary)
    examples = list(_make_examples(task.recipe, shape))
    store = Store.open_or_write(
        folder, lambda: iter(examples), task.encode, key=("synthetic",), longest=None
    )
    return Prepared(task, store, task.stream(store), lambda: iter(examples), [])


def task_over_synthetic_words(recipe: Recipe, vocabulary: int) -> Task[Any]:
    """Make the recipe's task with a vocabulary of synthetic words."""
    text = {"tokenizer": "words", "dropout": 0.0, "lowercase": False, "vocabulary": vocabulary}
    recipe = recipe.model_copy(update={"text": recipe.text.model_copy(update=text)})
    words, fields = _make_words(vocabulary), task_class(recipe).fields
    corpus = [(" ".join(words[n : n + 100]),) * fields for n in range(0, len(words), 100)]
    return make_task(recipe, make_tokenizer(recipe, lambda: iter(corpus)))


def drop_start(recipe: Recipe) -> Recipe:
    """Return the recipe with random initialization: loading another run costs time only once."""
    start = recipe.model.start.model_copy(update={"run": None, "lexicon": False})
    model = recipe.model.model_copy(update={"start": start})
    data = recipe.data.model_copy(update={"labelled": ()})  # may be missing as well
    return recipe.model_copy(update={"model": model, "data": data})


def _make_words(vocabulary: int) -> list[str]:
    """Make one word for every token that is neither a byte nor special."""
    count = max(8, vocabulary - 263)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        "X" + letters[n % 26] + letters[n // 26 % 26] + letters[n // 676 % 26] + letters[n // 17576]
        for n in range(count)
    ]


def _make_examples(recipe: Recipe, shape: TextShape) -> Iterator[Texts]:
    task, rng = task_class(recipe), np.random.default_rng(recipe.seed)
    words = np.array(_make_words(shape.vocabulary))
    rows = max(1, recipe.training.batch_tokens // shape.length) * BATCHES
    for number in range(max(BATCHES + 2, rows)):
        spread = 1.0 if shape.equal else float(np.clip(rng.normal(1.0, 0.3), 0.4, 1.6))
        texts = []
        for length in (shape.length, task.answer_length(recipe, shape.length))[: task.texts]:
            count = max(1, int(spread * length * SENTENCE / (SENTENCE + 1)) - 1)
            texts.append(_join_sentences(rng.choice(words, count).tolist()))
        yield (*texts, *task.synthetic_fields(recipe, number))


def _join_sentences(words: list[str]) -> str:
    """Join words into sentences of equal length, for models that read by sentences."""
    cut = [words[n : n + SENTENCE] for n in range(0, len(words), SENTENCE)]
    return " ".join(" ".join(sentence) + "." for sentence in cut)
