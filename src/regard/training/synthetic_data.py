"""Made-up text: words drawn evenly from a vocabulary of the right size, where no data is at hand.

Task, model, optimizer and batches stay the recipe's own; only what is read is nobody's.
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

SENTENCE = 12  # words of a made-up sentence
BATCHES = 4  # how many steps the made-up text lasts for


class Pages(NamedTuple):
    """What is made up."""

    vocabulary: int
    length: int
    """Tokens of a text, about; exactly where ``even``."""
    even: bool = False


def made_up(recipe: Recipe, pages: Pages, folder: Path) -> Prepared:
    """Make up examples enough for a few steps; ``folder`` takes their ids."""
    recipe = alone(recipe)
    recipe = task_class(recipe).complete_without_data(recipe)
    task = wordy(recipe, pages.vocabulary)
    examples = list(_examples(task.recipe, pages))
    store = Store.open_or_write(
        folder, lambda: iter(examples), task.encode, key=("made up",), longest=None
    )
    return Prepared(task, store, task.stream(store), lambda: iter(examples), [])


def wordy(recipe: Recipe, vocabulary: int) -> Task[Any]:
    """Return the recipe's task for a vocabulary of that size, whose tokens are made-up words."""
    text = {"tokenizer": "words", "dropout": 0.0, "lowercase": False, "vocabulary": vocabulary}
    recipe = recipe.model_copy(update={"text": recipe.text.model_copy(update=text)})
    words, fields = _words(vocabulary), task_class(recipe).fields
    lesson = [(" ".join(words[n : n + 100]),) * fields for n in range(0, len(words), 100)]
    return make_task(recipe, make_tokenizer(recipe, lambda: iter(lesson)))


def alone(recipe: Recipe) -> Recipe:
    """Return the recipe of a training that begins from nothing: what it begins from costs once."""
    start = recipe.model.start.model_copy(update={"run": None, "lexicon": False})
    model = recipe.model.model_copy(update={"start": start})
    data = recipe.data.model_copy(update={"labelled": ()})  # these files may be missing too
    return recipe.model_copy(update={"model": model, "data": data})


def _words(vocabulary: int) -> list[str]:
    """As many words as there are tokens beside bytes and special ones."""
    count = max(8, vocabulary - 263)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        "X" + letters[n % 26] + letters[n // 26 % 26] + letters[n // 676 % 26] + letters[n // 17576]
        for n in range(count)
    ]


def _examples(recipe: Recipe, pages: Pages) -> Iterator[Texts]:
    task, rng = task_class(recipe), np.random.default_rng(recipe.seed)
    words = np.array(_words(pages.vocabulary))
    rows = max(1, recipe.training.batch_tokens // pages.length) * BATCHES
    for number in range(max(BATCHES + 2, rows)):
        spread = 1.0 if pages.even else float(np.clip(rng.normal(1.0, 0.3), 0.4, 1.6))
        texts = []
        for length in (pages.length, task.answer_length(recipe, pages.length))[: task.texts]:
            count = max(1, int(spread * length * SENTENCE / (SENTENCE + 1)) - 1)
            texts.append(_text(rng.choice(words, count).tolist()))
        yield (*texts, *task.synthetic_fields(recipe, number))


def _text(words: list[str]) -> str:
    """Sentences, for those who ask about them."""
    cut = [words[n : n + SENTENCE] for n in range(0, len(words), SENTENCE)]
    return " ".join(" ".join(sentence) + "." for sentence in cut)
