"""Somebody else's folder in, a run out that answers, is searched with, and is trained on from."""

import json

import numpy as np
import pytest

from regard.cli.main import main
from regard.run import Run

pytest.importorskip("transformers")

RECIPE = """
task = "classification"
[data]
train = ["train.tsv"]
holdout = 0.2
[text]
overlong = "head"
[model.start]
run = "imported"
freeze = {freeze}
[training]
budget = "7 steps"
batch_tokens = 200
evaluations = 1
checkpoints = 1
threads = 1
optimizer = {{ kind = "adamw", rate = 0.01 }}
"""
SPECIAL = "[PAD] [UNK] [CLS] [SEP] [MASK]"
WORDS = "the a ship sail ##s sea wind song drum choir bread salt oven . ,"


def write(folder):
    """Write a small sentence encoder as transformers and sentence-transformers do."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer, logging

    logging.set_verbosity_error()
    vocabulary = [*WORDS.split()[:4], *SPECIAL.split(), *WORDS.split()[4:]]
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=14,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=19,
        max_position_embeddings=23,
    )
    hf = folder / "encoder"
    BertModel(config).save_pretrained(hf)
    BertTokenizer(vocab={t: id for id, t in enumerate(vocabulary)}).save_pretrained(hf)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    table = [{"path": path, "type": f"sentence_transformers.models.{k}"} for path, k in modules]
    (hf / "modules.json").write_text(json.dumps(table))
    (hf / "1_Pooling").mkdir()
    (hf / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (hf / "sentence_bert_config.json").write_text('{"max_seq_length": 13}')
    (folder / "docs.txt").write_text("The ship sails.\n\nA song, a drum.\n\nBread and salt.\n")
    rng = np.random.default_rng(1)
    groups = {"sea": ["ship", "sail", "sea", "wind"], "music": ["song", "drum", "choir"]}
    lines = [f"{' '.join(rng.choice(groups[label], 5))}\t{label}\n" for label in list(groups) * 23]
    (folder / "train.tsv").write_text("".join(lines))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("import")
    write(folder)
    assert main(["import", str(folder / "encoder"), str(folder / "imported"), "--json"]) == 0
    return folder


def test_it_says_in_json_what_was_made(fresh, said):
    assert main(["import", str(fresh / "encoder"), str(fresh / "again"), "--json"]) == 0
    result = said()
    assert (result["task"], result["from"], result["left_out"]) == (
        "retrieval",
        "encoder",
        ["pooler.dense"],
    )
    assert result["run"] == str(fresh / "again") and len(result["weights"]) == 64
    again, first = Run(fresh / "again"), Run(fresh / "imported")
    for name in ("model.safetensors", "tokenizer.json", "recipe.toml", "README.md"):
        assert again.facts["files"][name] == first.facts["files"][name]


def test_the_report_says_that_nothing_was_trained_or_measured(home):
    page = (home / "imported" / "report.html").read_text()
    assert "imported from the folder encoder" in page and "Imported model" in page
    assert "Training report" not in page
    assert "report.html" in Run(home / "imported").facts["files"]


def test_it_gives_vectors_without_training(home, said, capsys):
    capsys.readouterr()
    texts = ["The ship sails.", "the SHIP sails .", "Bread, salt."]
    assert main(["predict", str(home / "imported"), *texts, "--json"]) == 0
    vectors = np.array([answer["vector"] for answer in said()["answers"]])
    assert vectors.shape == (3, 14)
    assert vectors[0] @ vectors[2] < 0.9999
    assert np.allclose(vectors[0], vectors[1], atol=1e-6)


def test_a_corpus_is_indexed_and_searched_without_training(fresh, said):
    call = [
        "index",
        str(fresh / "imported"),
        str(fresh / "docs.txt"),
        "--output",
        str(fresh / "ix"),
    ]
    assert main([*call, "--json"]) == 0
    assert said()["width"] == 14
    query = ["search", str(fresh / "ix"), "The ship sails.", "--by", "dense", "--json"]
    assert main(query) == 0
    assert said()["results"][0]["snippet"] == "The ship sails."


def test_its_attention_can_be_shown(home, said, capsys):
    capsys.readouterr()
    assert main(["explain", str(home / "imported"), "The ship sails.", "--json"]) == 0
    assert said()["tokens"] == ["[CLS]", "the", "ship", "sails", ".", "[SEP]"]


@pytest.mark.parametrize("freeze", [True, False])
def test_its_body_is_carried_into_a_classifier(fresh, said, freeze):
    (fresh / "recipe.toml").write_text(RECIPE.format(freeze=str(freeze).lower()))
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "run"), "--json"]
    assert main(call) == 0
    said()
    run, imported = Run(fresh / "run"), Run(fresh / "imported")
    own, theirs = run.parameters, imported.parameters
    kept = [bool((own[name] == theirs[name]).all()) for name in theirs]
    assert all(kept) is freeze
    began = run.metrics["training"]["began"]
    assert (
        began["run"] == "imported"
        and began["model"] == imported.facts["files"]["model.safetensors"]
    )
    assert sum(began["carried"].values()) == imported.metrics["imported"]["parameters"]
    result = "Started from the run imported"
    assert result in (fresh / "run" / "README.md").read_text()
    assert result in (fresh / "run" / "report.html").read_text()
    assert run.recipe.text.tokenizer == "bert" and run.tokenizer == imported.tokenizer
    assert (run.recipe.model.norm_order, run.recipe.text.max_length) == ("post", 13)
    assert main(["predict", str(fresh / "run"), "the ship", "--json"]) == 0
    assert said()["answers"][0]["text"] in ("sea", "music")


def test_wrong_turns_are_refused_in_two_lines(fresh, refused):
    encoder, run = str(fresh / "encoder"), str(fresh / "new")
    refused(2, ["import", encoder, str(fresh / "imported")], "must be new", "Name another folder")
    refused(2, ["import", str(fresh / "nowhere"), run], "is not a folder", "config.json")
    refused(2, ["import", encoder, run, "--task", "translation"], "masked-pretraining or retrieval")
    refused(2, ["compare", str(fresh / "imported"), str(fresh / "imported")], "it has no scores")
    (fresh / "encoder" / "config.json").write_text("{")
    refused(1, ["import", encoder, run], "config.json cannot be read", "Get this file again")
    assert not (fresh / "new").exists()


def test_what_is_imported_cannot_be_trained_again_but_named(fresh, refused):
    recipe = str(fresh / "imported" / "recipe.toml")
    place = json.dumps([str(fresh / "docs.txt")])
    call = ["train", recipe, "--run", str(fresh / "run"), "--set", f"data.train={place}"]
    refused(2, call, "model.start.imported", "model.start.run")
    call += ["--set", f"model.start.run={fresh / 'imported'}"]
    refused(2, call, "both set the initial parameters")


def test_there_is_no_data_to_check(fresh, refused):
    recipe = fresh / "imported" / "recipe.toml"
    refused(2, ["check", str(recipe)], "imported run", "no data")


def test_a_model_that_writes_cannot_begin_from_it(fresh, refused):
    text = RECIPE.format(freeze="false").replace("classification", "language-modelling")
    (fresh / "recipe.toml").write_text(
        text.replace("train.tsv", "docs.txt").replace('overlong = "head"', "")
    )
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "run")]
    refused(2, call, 'text.tokenizer "bert"', "language-modelling")


def test_its_help_shows_examples(capsys):
    assert main(["import", "--help"]) == 0
    assert "regard import all-MiniLM-L6-v2 runs/minilm" in capsys.readouterr().out
