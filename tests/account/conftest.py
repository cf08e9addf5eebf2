"""Recipes at toy size, rehearsed: what the formulas are held against."""

from typing import NamedTuple

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from regard.account.facts import Facts, Load
from regard.account.observed import observed
from regard.recipe.load import load
from regard.training.rehearsal import Pages, rehearsal

WINDOWS = ("language-modelling", "masked-pretraining")


class Counter(TorchDispatchMode):
    """Counts every matrix product by the shapes that torch itself is given."""

    def __init__(self):
        super().__init__()
        self.flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        packet = func._overloadpacket
        if packet is torch.ops.aten.addmm_:
            self.flops += 2 * args[1].shape[0] * args[1].shape[1] * args[2].shape[1]
        elif packet in flop_registry:
            self.flops += flop_registry[packet](*args, **(kwargs or {}), out_val=out)
        return out


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


def load_of_batch(task, batch):
    """Say what a real batch holds, in the account's words."""
    fields = batch.fields
    rows, length = fields[0].ids.shape
    if task in ("translation", "summarization", "denoising"):
        real = int(fields[1].lengths.sum())
        return Load(rows, length, written=fields[1].ids.shape[1], asked=real)
    if task == "language-modelling":
        return Load(rows, length - 1)
    if task == "masked-pretraining":
        asked = fields[1].ids >= 0
        kept = int((fields[0].lengths - asked.sum(dim=1)).max())
        return Load(rows, length, asked=int(asked.sum()), kept=kept)
    return Load(*fields[1].ids.shape)


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
    return Counter
