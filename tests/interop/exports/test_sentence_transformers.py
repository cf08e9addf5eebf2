"""Vectors of sentence-transformers are the run's own."""

import json

import pytest
import torch

from regard.interop.export import export_run, find_target, offer
from regard.interop.take import import_folder

sentence_transformers = pytest.importorskip("sentence_transformers")
TARGET = find_target("sentence-transformers")
BERT = (
    *("model.norm='layer'", "model.norm_order='post'", "model.embedding.norm=true"),
    *("model.biases=true", "model.activation='gelu'"),
)
EVEN = "retrieval.term_weights='even'"
RUNS = {
    "mean": ("retrieval", (*BERT, EVEN)),
    "first": ("retrieval", (*BERT, EVEN, "model.head.pooling='first'")),
    "last": ("retrieval", (*BERT, EVEN, "model.head.pooling='last'")),
    "max": ("retrieval", (*BERT, EVEN, "model.head.pooling='max'")),
    "pre-norm": ("retrieval", ("model.norm='layer'", "model.embedding.norm=true", EVEN)),
    "masks": (
        "masked-pretraining",
        (*BERT, "text.tokenizer='wordpiece'", "model.head.transform=true"),
    ),
    "labels": ("classification", BERT),
    "tags": ("tagging", ("model.norm='layer'",)),
    "documents": ("document-pretraining", BERT),
}


@pytest.mark.parametrize("kind", RUNS)
def test_vectors_are_equal(random_run, tmp_path, kind):
    task, sets = RUNS[kind]
    run = random_run(task, *sets)
    made = export_run(run, TARGET._replace(tolerance=1e-9), tmp_path / "st")
    assert made.equality.same_tokens == made.equality.texts
    texts = ["the ship sails", "a cat", "rain over the sea"]
    model = sentence_transformers.SentenceTransformer(str(tmp_path / "st")).double()
    theirs = torch.from_numpy(model.encode(texts))
    run.model.float()
    ours = run.task.vectors(run.model, texts)
    torch.testing.assert_close(ours, theirs.float(), rtol=0, atol=2e-5)
    names = {file.name for file in (tmp_path / "st").iterdir()}
    assert ("2_Normalize" in names) == (task == "retrieval")
    config = json.loads((tmp_path / "st" / "1_Pooling" / "config.json").read_text())
    assert sum(value is True for key, value in config.items() if "mode" in key) == 1


def test_learned_term_weights_and_writers_are_refused(random_run, tmp_path):
    run = random_run("retrieval", *BERT, "retrieval.term_weights='learned'")
    assert [one.setting for one in offer(run, TARGET).obstacles] == ["retrieval.term_weights"]


def test_a_language_model_gives_no_sentence_vectors(random_run):
    run = random_run("language-modelling", "model.norm='layer'")
    assert [one.setting for one in offer(run, TARGET).obstacles] == ["task"]


def test_an_encoder_comes_back(random_run, tmp_path):
    run = random_run("retrieval", *BERT, EVEN, "model.head.pooling='first'", double=False)
    folder = tmp_path / "st"
    export_run(run, TARGET, folder)
    back = import_folder(folder, tmp_path / "back")
    assert back.recipe.task == "retrieval" and back.recipe.model.head.pooling == "first"
    texts = ["the ship sails", "a cat", "rain over the sea"]
    ours, theirs = (one.task.vectors(one.model, texts) for one in (run, back))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
