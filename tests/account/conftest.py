"""Recipes at toy size, built: what the formulas are compared with."""

from typing import NamedTuple

import numpy as np
import pytest

from regard.account.observed import FlopCounter, facts_of_model
from regard.ledger.load import Facts, Load
from regard.recipe.load import load
from regard.tasks.kinds import task_class
from regard.training.sample import read_sample
from regard.training.step_timing import build_training
from regard.training.synthetic_data import TextShape, make_synthetic_data


class Stage(NamedTuple):
    """A training, and the load of its first batch."""

    stepper: object
    state: object
    batch: object
    facts: Facts
    load: Load

    @property
    def recipe(self):
        return self.stepper.task.recipe

    @property
    def model(self):
        return self.state.model


@pytest.fixture
def staged(tmp_path):
    """Build a recipe's training; texts of equal length, so that nothing is padding."""

    def put_on(recipe, *, length=19, vocabulary=293, equal=True):
        length = recipe.text.max_length if task_class(recipe).windows else length
        return stage_of(make_synthetic_data(recipe, TextShape(vocabulary, length, equal), tmp_path))

    return put_on


@pytest.fixture
def staged_on_documents(tmp_path):
    """Build a recipe's training on documents with sentences of different lengths."""
    rng = np.random.default_rng(5)
    lines = []
    for number in range(29):
        sentences = [" ".join(["X" + "ab"[n % 2]] * n) for n in rng.integers(1, 43, number % 7)]
        lines.append(". ".join(["Say", *sentences]) + f".\t{'yes' if number % 3 else 'no'}\n")
    file = tmp_path / "documents.tsv"
    file.write_text("".join(lines))

    def put_on(recipe):
        data = recipe.data.model_copy(update={"train": (str(file),), "valid": (str(file),)})
        return stage_of(read_sample(recipe.model_copy(update={"data": data}), tmp_path).prepared)

    return put_on


def stage_of(prepared):
    task = prepared.task
    stepper, state = build_training(task.recipe, prepared)
    batch = task.batch(stepper.store, stepper.stream[0], (1,))
    facts = facts_of_model(state.model, task.tokenizer.size)
    return Stage(stepper, state, batch, facts, task.load(batch))


@pytest.fixture
def toy(tmp_path):
    """Make a small recipe of a task, with changes."""

    def made(task, *sets):
        file = tmp_path / f"{task}.toml"
        file.write_text(
            f'task = "{task}"\ndata = {{ train = ["x"] }}\n'
            "[text]\nvocabulary = 293\nmax_length = 23\n"
            "[model]\nwidth = 24\ndepth = 2\nfeed_forward = 29\n"
            "[training]\nbatch_tokens = 97\n"
        )
        return load(file, sets)

    return made


@pytest.fixture
def products():
    """Give a fresh counter of matrix products, as often as it is called."""
    return FlopCounter
