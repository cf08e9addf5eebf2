"""Every shipped recipe, made small: what fits a target is equal there, and comes back from hf."""

import importlib.util
from pathlib import Path

import pytest

from regard.interop.export import export_run, offer
from regard.interop.exports import compare
from regard.interop.exports.compare import largest_differences, make_rows
from regard.interop.exports.reference import Reference
from regard.interop.take import import_folder
from regard.interop.targets import TARGETS
from regard.recipe.load import load
from regard.recipe.shipped import list_shipped

pytest.importorskip("transformers")
BENCH = Path(__file__).parents[3] / "bench" / "exports.py"
RECIPES = list_shipped()
FITS_HF = {"bert", "bert-base", "bert-tiny", "gpt2", "transformer-base"}
"""Shipped recipes that transformers has an architecture for."""


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_exports", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", RECIPES)
def test_a_shipped_recipe_is_equal_or_told_why_not(bench, tmp_path, monkeypatch, name):
    monkeypatch.setattr(compare, "ANSWERED", 1)
    monkeypatch.setattr(compare, "LONGEST_ANSWER", 7)
    run = bench.write_small_run(load(RECIPES[name]), tmp_path / "run")
    for target in TARGETS.values():
        found = offer(run, target)
        if found.fit is None:
            assert all(one.reason and one.remedy.endswith(".") for one in found.obstacles)
        elif target.name == "hf":
            made = export_run(run, target, tmp_path / target.name)
            assert made.equality.largest <= 1e-5
            comes_back(run, made.folder, tmp_path / "back")
    assert (offer(run, TARGETS["hf"]).fit is not None) == (name in FITS_HF)


def comes_back(run, folder, place):
    back = import_folder(folder, place, task=run.recipe.task)
    ours = Reference(run, run.task.export()._replace(pairs=False))
    theirs = Reference(back, back.task.export()._replace(pairs=False))
    texts = [("the ship sails on the sea",), ("a cat",)]
    assert ours.encode(texts) == theirs.encode(texts)
    rows = make_rows(ours.shape, ours.encode(texts))
    assert largest_differences(ours.outputs(rows), theirs.outputs(rows))["logits"] <= 1e-5
