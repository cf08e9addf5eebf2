"""Both sides are scored on the test split, and score the same."""

from itertools import pairwise

import pytest

from regard.interop.export import export_run, find_target

from .conftest import TEXTS
from .kinds import BERT, LAYER, MASKS

pytest.importorskip("transformers")
TASKS = {
    "translation": (LAYER, "\t".join, "bleu"),
    "classification": (
        (*BERT, "model.head.pooling='cls'"),
        lambda pair: f"{pair[0]}\t{'yes' if len(pair[0]) % 2 else 'no'}",
        "accuracy",
    ),
    "language-modelling": ((*LAYER, "data.format='lines'"), lambda pair: pair[0], "loss"),
    "masked-pretraining": ((*BERT, *MASKS), lambda pair: f"{pair[0]}\n", "masked_accuracy"),
}


@pytest.mark.parametrize("task", TASKS)
def test_both_sides_have_the_same_score(random_run, tmp_path, task):
    sets, line, metric = TASKS[task]
    file = tmp_path / ("data.tsv" if task in ("translation", "classification") else "data.txt")
    pairs = pairwise(TEXTS[:13])
    file.write_text("".join(f"{line(pair)}\n" for pair in pairs), encoding="utf-8")
    run = random_run(task, *sets, f"data.train=['{file}']", f"data.test=['{file}']", double=False)
    scores = export_run(run, find_target("hf"), tmp_path / "hf").record["scores"]
    assert scores["split"] == "test" and scores["examples"] > 0
    assert scores["regard"][metric] == pytest.approx(scores["hf"][metric], rel=1e-5)
