"""Recipes at toy size, rehearsed: what the formulas are held against."""

from typing import NamedTuple

import pytest

from regard.account.facts import Facts, Load
from regard.account.observed import Products, load_of_batch, observed
from regard.recipe.load import load
from regard.training.rehearsal import Pages, rehearsal

WINDOWS = ("language-modelling", "masked-pretraining")


class Stage(NamedTuple):
    """A rehearsal, and what its first batch weighs."""

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
    """Rehearse a recipe; texts are even, so that nothing is padding."""

    def put_on(recipe, *, length=19, vocabulary=293, even=True):
        length = recipe.text.longest if recipe.task in WINDOWS else length
        stepper, state = rehearsal(recipe, Pages(vocabulary, length, even), tmp_path)
        batch = stepper.task.batch(stepper.store, stepper.stream[0], (1,))
        facts = observed(state.model, stepper.task.tokenizer.size)
        return Stage(stepper, state, batch, facts, load_of_batch(recipe.task, batch))

    return put_on


@pytest.fixture
def toy(tmp_path):
    """Make a small recipe of a task, with changes."""

    def made(task, *sets):
        file = tmp_path / f"{task}.toml"
        file.write_text(
            f'task = "{task}"\ndata = {{ train = ["x"] }}\n'
            "[text]\nvocabulary = 293\nlongest = 23\n"
            "[model]\nwidth = 24\ndepth = 2\nfeed_forward = 29\n"
            "[training]\nbatch_tokens = 97\n"
        )
        return load(file, sets)

    return made


@pytest.fixture
def products():
    """Give a fresh counter of matrix products, as often as it is called."""
    return Products
