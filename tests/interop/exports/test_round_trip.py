"""A run that is exported and imported again computes the same, for every architecture."""

import pytest
import torch

from regard.interop.export import find_target, offer
from regard.interop.exports.compare import largest_differences, make_rows
from regard.interop.exports.reference import Reference
from regard.interop.exports.samples import draw_samples
from regard.interop.take import import_folder, read
from regard.run import Run
from regard.tasks.kinds import make_task

from .kinds import KINDS

HF = find_target("hf")
IMPORTED = [kind for kind in KINDS if not kind.endswith("states")]


@pytest.fixture
def exported(random_run, tmp_path):
    """Return a function that writes a folder of a random run, unverified."""

    def export(kind):
        task, sets, _ = KINDS[kind]
        run = random_run(task, *sets)
        (tmp_path / "hf").mkdir()
        HF.write(run, offer(run, HF).fit, tmp_path / "hf")
        return run, tmp_path / "hf"

    return export


@pytest.mark.parametrize("kind", IMPORTED)
def test_what_comes_back_computes_the_same(exported, kind):
    run, folder = exported(kind)
    torch.set_default_dtype(torch.float64)
    try:
        found = read(folder, task=run.recipe.task)
    finally:
        torch.set_default_dtype(torch.float32)
    back = Run.__new__(Run)
    back.recipe, back.tokenizer, back.model = found.recipe, found.tokenizer, found.model
    back.task = make_task(found.recipe, found.tokenizer)
    assert found.tokenizer == run.tokenizer
    shape = run.task.export()
    assert (
        back.task.export()._replace(pairs=shape.pairs, pair_template=shape.pair_template) == shape
    )
    ours, theirs = Reference(run, shape), Reference(back, back.task.export())
    texts = [text for text in draw_samples(run, shape).texts if len(ours.encode([text])[0]) < 60]
    assert ours.encode(texts) == theirs.encode(texts) and len(texts) > 20
    rows = make_rows(shape, ours.encode(texts))
    if not back.task.export().pairs:
        ours.shape = ours.shape._replace(pairs=False)
    assert max(largest_differences(ours.outputs(rows), theirs.outputs(rows)).values()) <= 1e-9


def test_a_run_comes_back_whole(exported, tmp_path):
    run, folder = exported("bert, two texts")
    back = import_folder(folder, tmp_path / "back", task="sentence-pair")
    text = "the ship sails\ta cat walks"
    assert back.recipe.data.labels == run.recipe.data.labels
    run.model.float()
    assert (
        back.task.answer(back.model, [text])[0].text == run.task.answer(run.model, [text])[0].text
    )
