"""What a search changes: recipe settings, one row each, and how a new value is drawn.

A row applies to every task on which its setting has an effect. Trial n draws from (seed, n) alone:
each row changes with probability ``CHANGE``, and a value that the recipe's own rules refuse leaves
that setting alone. So no trial depends on another, and none on the machine.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from regard.errors import RegardError
from regard.randomness import Purpose, derive_generator
from regard.recipe.load import override
from regard.recipe.model import AttentionSettings
from regard.recipe.recipe import Recipe
from regard.recipe.tasks import is_idle
from regard.tasks.kinds import task_class
from regard.tasks.scores import HUNDREDS, RANKINGS

CHANGE = 0.3
BYTES = 300  # tokens: every byte and what a tokenizer needs besides
REDRAWS = 20  # of a trial whose changes were all refused

Changes = dict[str, Any]
Rng = np.random.Generator
Draw = Callable[[Rng, Any, Recipe], Any]
"""Draws a new value from the old one."""
Complete = Callable[[Recipe], Recipe]
"""Fills in a recipe and refuses one that cannot be trained."""


class Row(NamedTuple):
    """One setting that a search changes."""

    path: str
    draw: Draw
    applies: Callable[[Recipe], bool] = lambda _recipe: True


def _around(factor: float) -> Draw:
    """Multiply by a log-uniform factor; keep two digits."""

    def draw(rng: Rng, value: float, _recipe: Recipe) -> float:
        times = math.exp(rng.uniform(-1, 1) * math.log(factor))
        return float(f"{value * times:.2g}")

    return draw


def _times(*factors: float, least: int = 1) -> Draw:
    """Multiply a whole number by one of the factors."""
    return lambda rng, value, _recipe: max(least, round(value * float(rng.choice(factors))))


def _plus(*steps: int) -> Draw:
    """Add one of the numbers."""
    return lambda rng, value, _recipe: value + int(rng.choice(steps))


def _among(*choices: Any) -> Draw:  # noqa: ANN401 - any setting's
    """Choose another of the values."""

    def draw(rng: Rng, value: Any, _recipe: Recipe) -> Any:  # noqa: ANN401
        others = [choice for choice in choices if choice != value]
        return others[int(rng.integers(len(others)))]

    return draw


def _width(rng: Rng, value: int, recipe: Recipe) -> int:
    """Scale the width to a multiple of twice the heads."""
    mixer = recipe.model.mixer
    unit = 2 * mixer.heads if isinstance(mixer, AttentionSettings) else 2
    return max(1, round(value * float(rng.choice((0.5, 0.75, 1.5, 2.0))) / unit)) * unit


def _has_blocks(recipe: Recipe) -> bool:
    return recipe.model.depth > 0


def _has_ngrams(recipe: Recipe) -> bool:
    return recipe.model.embedding.ngrams > 1


def _scores_answers(recipe: Recipe) -> bool:
    """Whether scores of models with different tokenizers can be compared: not those per token."""
    task = task_class(recipe)
    return task.has_labels or getattr(task, "metric", "") in {*HUNDREDS, *RANKINGS, "rougel"}


SPACE = (
    Row("training.optimizer.rate", _around(4.0)),
    Row("training.optimizer.rest.rate", _around(4.0)),
    Row("training.optimizer.weight_decay", _among(0.0, 0.01, 0.03, 0.1, 0.3)),
    Row("training.batch_tokens", _times(0.25, 0.5, 2.0)),
    Row("training.schedule.warmup", _among(0.0, 0.02, 0.1)),
    Row("training.label_smoothing", _among(0.0, 0.05, 0.1)),
    Row("training.adversarial", _among(0.0, 0.02)),
    Row("training.ema", _among(0.0, 0.99)),
    Row("text.vocabulary", _times(0.5, 2.0, least=BYTES), _scores_answers),
    Row("text.dropout", _among(0.0, 0.1)),
    Row("model.width", _width),
    Row("model.feed_forward", _times(0.5, 2.0), _has_blocks),
    Row("model.depth", _plus(-1, 1, 2)),
    Row("model.decoder_depth", _plus(-1, 1)),
    Row("model.dropout", _among(0.0, 0.1, 0.2, 0.3, 0.4)),
    Row("model.embedding.ngrams", _among(1, 2, 3)),
    Row("model.embedding.ngram_rows", _times(0.5, 2.0, 4.0), _has_ngrams),
    Row("model.embedding.ngram_dropout", _among(0.0, 0.1, 0.3, 0.5), _has_ngrams),
    Row("model.head.pooling", _among("mean", "max", "mean-max", "attention")),
    Row("model.head.dropout", _among(0.0, 0.1, 0.3, 0.5)),
    Row("retrieval.temperature", _around(2.0)),
)


def draw_changes(recipe: Recipe, seed: int, number: int, complete: Complete) -> Changes:
    """Draw what trial ``number`` changes; trial 0 is the recipe itself."""
    rng = derive_generator(seed, Purpose.CANDIDATE, number)
    changes: Changes = {}
    for _ in range(REDRAWS if number else 0):
        changed = recipe
        for row in SPACE:
            if rng.random() < CHANGE and (new := _draw_row(rng, row, changed)) is not None:
                try:
                    changed = change(changed, {row.path: new})
                    complete(changed)
                except RegardError:
                    changed = change(recipe, changes)
                else:
                    changes[row.path] = new
        if changes:
            break
    return changes


def change(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return the recipe with the changes."""
    return override(recipe, changes) if changes else recipe


def _draw_row(rng: Rng, row: Row, recipe: Recipe) -> Any:  # noqa: ANN401 - any setting's
    """Draw a new value of a setting; None if it is not there, has no effect or stays the same."""
    value = recipe.flat().get(row.path)
    if value is None or is_idle(recipe, row.path) or not row.applies(recipe):
        return None
    new = row.draw(rng, value, recipe)
    return None if new == value else new
