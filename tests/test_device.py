"""Which device a name stands for, on machines that this one is not."""

import pytest
import torch

from regard.device import accelerators, choose_device, device_of
from regard.errors import RecipeError, UsageError
from regard.recipe.load import make
from regard.recipe.recipe import Recipe


@pytest.fixture
def machine(monkeypatch):
    """Pretend that PyTorch finds so many accelerators of a kind."""

    def has(kind=None, count=0):
        there = kind and torch.device(kind)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: there)
        monkeypatch.setattr(torch.accelerator, "device_count", lambda: count)

    return has


@pytest.mark.parametrize(
    ("kind", "count", "name", "device"),
    [
        (None, 0, "auto", "cpu"),
        (None, 0, "cpu", "cpu"),
        ("cuda", 2, "auto", "cuda:0"),
        ("cuda", 2, "cpu", "cpu"),
        ("cuda", 2, "cuda", "cuda:0"),
        ("cuda", 2, "cuda:1", "cuda:1"),
        ("mps", 1, "auto", "mps:0"),
        ("mps", 1, "mps", "mps:0"),
        ("xpu", 1, "xpu", "xpu:0"),
    ],
)
def test_a_name_stands_for_a_device_that_is_there(machine, kind, count, name, device):
    machine(kind, count)
    assert choose_device(name) == torch.device(device)


@pytest.mark.parametrize(
    ("kind", "count", "name", "found"),
    [
        (None, 0, "cuda", "cpu"),
        ("cuda", 2, "cuda:2", "cpu, cuda:0, cuda:1"),
        ("mps", 1, "cuda", "cpu, mps:0"),
        ("cuda", 1, "xpu", "cpu, cuda:0"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(
    machine, kind, count, name, found
):
    machine(kind, count)
    with pytest.raises(UsageError) as refused:
        choose_device(name)
    assert refused.value.problem.endswith(f'Got "{name}"; PyTorch finds {found}.')
    assert "training.device=auto" in refused.value.remedy
    assert "decoding.device=auto" in refused.value.remedy


def test_this_machines_accelerators_can_be_chosen():
    assert all(choose_device(name) == torch.device(name) for name in accelerators())


def test_a_model_is_where_its_parameters_are():
    assert device_of(torch.nn.Linear(2, 3, device="meta")) == torch.device("meta")


def recipe(table, device) -> Recipe:
    return make({"task": "translation", "data": {"train": ["x"]}, table: {"device": device}})


@pytest.mark.parametrize("table", ["training", "decoding"])
@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:13", "mps", "xpu", "xpu:1"])
def test_a_recipe_may_ask_for_a_device_that_this_machine_lacks(table, device):
    assert getattr(recipe(table, device), table).device == device


@pytest.mark.parametrize("table", ["training", "decoding"])
@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:1", "mps:0", "CUDA", ""])
def test_a_recipe_that_asks_for_no_device_is_refused_with_the_choices(table, device):
    with pytest.raises(RecipeError) as refused:
        recipe(table, device)
    assert f'{table}.device must be "auto", "cpu", "cuda"' in refused.value.problem
    assert refused.value.problem.endswith(f'got "{device}"')
    assert refused.value.remedy.startswith(f"{table}.device: Device ")
