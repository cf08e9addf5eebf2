"""Pretraining as a user lives it: plain text in, a body out, by every objective."""

import json
import random
import signal

import pytest
from safetensors.torch import load_file

from regard.cli.main import main
from regard.training.step import Stepper

RECIPE = """
task = "masked-pretraining"
[data]
train = ["text.txt"]
holdout = 0.2
[text]
vocabulary = 300
max_length = 24
[model]
width = 12
depth = 1
decoder_depth = 1
feed_forward = 17
mixer = { kind = "attention", heads = 3 }
[training]
budget = "9 steps"
batch_tokens = 150
evaluations = 2
checkpoints = 3
threads = 1
"""
OBJECTIVES = {
    "masked": [],
    "whole words, next sentence": [
        'pretraining.pairs="next-sentence"',
        "pretraining.whole_words=true",
        'text.tokenizer="wordpiece"',
        "text.vocabulary=560",
        "model.embedding.segments=2",
    ],
    "replaced": ['pretraining.objective="replaced"', 'pretraining.pairs="sentence-order"'],
    "autoencoder": ['pretraining.objective="autoencoder"'],
    "hybrid": ['pretraining.objective="hybrid"', "pretraining.causal_share=0.5"],
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    rng = random.Random(5)
    nouns = ["dog", "cat", "child", "man", "woman"]
    texts = []
    for _ in range(60):
        a, b = rng.sample(nouns, 2)
        texts.append("\n".join(f"The {a} sees the {b}." for _ in range(rng.randint(2, 4))))
    (tmp_path / "text.txt").write_text("\n\n".join(texts) + "\n")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def train(home, settings, run, *more):
    changes = [part for setting in settings for part in ("--set", setting)]
    return main(
        ["train", str(home / "recipe.toml"), "--run", str(home / run), "--json", *changes, *more]
    )


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_trains_answers_is_measured_and_resumes_to_the_same_bits(
    home, capsys, name, monkeypatch
):
    settings = OBJECTIVES[name]
    assert train(home, settings, "run") == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["steps"] == 9
    assert {"masked_accuracy", "loss", "perplexity"} <= trained["metrics"].keys()
    assert "masked_accuracy" in trained["metrics"]["baseline"]

    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["metrics"] == trained["metrics"]

    asked = "The dog sees the [MASK]."
    assert main(["predict", str(home / "run"), asked, "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert answer["text"].startswith("The dog sees the")
    assert "[MASK]" not in answer["text"]

    _stop_after(monkeypatch, 4)
    assert train(home, settings, "stopped") != 0
    assert "everything is saved" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setenv("REGARD_CACHE", str(home / "cache"))
    assert train(home, settings, "stopped", "--resume") == 0
    one, same = (load_file(home / run / "model.safetensors") for run in ("run", "stopped"))
    assert one.keys() == same.keys()
    assert all((one[key] == same[key]).all() for key in one)


def _stop_after(monkeypatch, steps):
    """Let a signal come in the middle of the training."""
    take = Stepper.take

    def taken(self, state, step):
        if step == steps:
            signal.raise_signal(signal.SIGTERM)
        return take(self, state, step)

    monkeypatch.setattr(Stepper, "take", taken)


def test_a_suggested_recipe_is_complete_and_its_reasons_belong_to_it(home, capsys):
    out = home / "suggested.toml"
    call = ["init", "masked-pretraining", "--data", str(home / "text.txt"), "--output", str(out)]
    assert main([*call, "--json"]) == 0
    reasons = json.loads(capsys.readouterr().out)["reasons"]
    assert "60 documents" in reasons["model.width"]
    settings = ["training.budget='2 steps'", "model.width=16", "model.depth=1", "data.holdout=0.3"]
    changes = [part for setting in settings for part in ("--set", setting)]
    changes += ["--set", "model.mixer.heads=2", "--set", "training.threads=1"]
    assert main(["train", str(out), "--run", str(home / "run"), "--json", *changes]) == 0


def test_a_text_without_a_mask_is_refused_in_two_lines(home, capsys):
    assert train(home, [], "run") == 0
    assert main(["predict", str(home / "run"), "The dog sees the cat."]) == 2
    result = capsys.readouterr().err.strip().splitlines()
    assert "at least one [MASK]" in result[-2]
    assert result[-1].startswith("Write [MASK]")


def test_one_document_has_no_other_to_take_a_wrong_sentence_from(home, capsys):
    valid = home / "valid.txt"
    valid.write_text((home / "text.txt").read_text())
    (home / "text.txt").write_text("The dog sees. The cat sees.\nThe man sees.\n" * 40)
    changes = ['pretraining.pairs="next-sentence"', f"data.valid=['{valid}']"]
    assert train(home, changes, "run") != 0
    assert "other documents" in capsys.readouterr().err
