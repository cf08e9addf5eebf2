"""The story of a language model, as a user lives it: a text in, a model that goes on with it out."""

import json
import shutil

import pytest

import regard
from regard.cli.main import main

RECIPE = """
task = "language-modelling"
[data]
train = ["text.txt"]
format = "whole"
holdout = 0.1
holdout_from = "end"
[text]
tokenizer = "characters"
vocabulary = 400
max_length = 16
[model]
width = 16
depth = 1
feed_forward = 23
mixer = { kind = "attention", heads = 2 }
position = { kind = "learned", positions = 16 }
embedding = { ngrams = 3, ngram_rows = 211, ngram_dropout = 0.1 }
[training]
budget = "30 steps"
batch_tokens = 160
label_smoothing = 0.0
evaluations = 2
checkpoints = 3
threads = 1
optimizer = { kind = "adamw", rate = 1e-2 }
[decoding]
method = "sample"
temperature = 0.8
max_length = 40
"""


def verses():
    for who in ("The cat", "The dog", "A child", "My aunt"):
        for what in ("sat on", "looked at", "walked to", "sang of"):
            for where in ("the mat", "the log", "the moon"):
                yield f"{who.upper()}:\n{who} {what} {where}.\n"


def write(folder):
    (folder / "text.txt").write_text("\n".join(verses()))
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(settled):
    """Return a folder with a text, a recipe and a finished run, made once."""
    return settled("a stage", write)


def test_the_run_is_compared_with_an_n_gram_model(home):
    metrics = json.loads((home / "run" / "metrics.json").read_text())["valid"]
    names = {"loss", "perplexity", "bits_per_byte"}
    assert set(metrics["metrics"]) == names | {"baseline", "together"}
    assert set(metrics["metrics"]["baseline"]) == set(metrics["metrics"]["together"]) == names
    text = (home / "text.txt").read_text()
    assert metrics["details"]["bytes"] == len(text) - int(0.9 * len(text))
    assert "n-gram model of order 6" in (home / "run" / "README.md").read_text()
    assert (home / "run" / "baseline.safetensors").is_file()


def test_a_run_evaluates_and_the_baseline_comes_back_from_disk(home, said):
    assert main(["evaluate", str(home / "run"), "--split", "valid", "--json"]) == 0
    result = said()
    kept = json.loads((home / "run" / "metrics.json").read_text())["valid"]
    for name in ("loss", "bits_per_byte"):
        assert result["metrics"][name] == pytest.approx(kept["metrics"][name])
        assert result["metrics"]["baseline"][name] == pytest.approx(
            kept["metrics"]["baseline"][name], rel=1e-5
        )


def test_another_file_is_measured_whole_blank_lines_and_all(home, tmp_path, said):
    (tmp_path / "more.txt").write_text("The cat\n\n\n\nsat on the moon.\n")
    assert (
        main(["evaluate", str(home / "run"), "--data", str(tmp_path / "more.txt"), "--json"]) == 0
    )
    assert said()["details"] == {"tokens": 28, "bytes": 28}


def test_a_run_continues_texts(home, said):
    long = "The dog walked to the log. " * 5
    assert main(["predict", str(home / "run"), "The cat", "", long, "--json"]) == 0
    answers = said()["answers"]
    assert [bool(answer["truncated"]) for answer in answers] == [False, False, True]
    assert all(answer["log_probability"] < 0 for answer in answers)
    assert main(["predict", str(home / "run"), "The cat", "--json"]) == 0
    assert said()["answers"][0] == answers[0]


def test_a_single_text_is_answered_with_its_own_line_ends(home, capsys, said):
    assert main(["predict", str(home / "run"), "THE CAT:\n", "--json"]) == 0
    text = said()["answers"][0]["text"]
    assert main(["predict", str(home / "run"), "THE CAT:\n"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")


def test_a_run_can_be_asked_to_answer_otherwise(home, said):
    def answer(*changes):
        sets = [word for change in changes for word in ("--set", f"decoding.{change}")]
        assert main(["predict", str(home / "run"), "The cat", "--json", *sets]) == 0
        return said()["answers"][0]

    drawn, likeliest = answer(), answer("method=greedy")
    assert answer("temperature=0.8") == drawn and answer("seed=1") == drawn
    assert answer("seed=2")["text"] != drawn["text"]
    assert answer("top_k=1") == likeliest == answer("method=beam", "beam=1")
    assert likeliest["log_probability"] > drawn["log_probability"]
    (result,) = regard.load(home / "run", decoding={"method": "greedy"}).predict("The cat")
    assert result.text == likeliest["text"]
    assert len(answer("max_length=7")["text"]) <= 7
    again = answer("method=greedy", "no_repeat=2", "min_length=29", "max_length=30")["text"]
    pairs = [again[at : at + 2] for at in range(len(again) - 1)]
    assert len(again) >= 29 and len(set(pairs)) == len(pairs)


def test_answering_otherwise_is_refused_in_two_lines(home, refused):
    call = ["predict", str(home / "run"), "The cat", "--set"]
    refused(
        2, [*call, "model.width=3"], "only [decoding] of a trained model", "decoding.max_length=50"
    )
    refused(2, [*call, "decoding.temprature=0.5"], "temprature is unknown", "decoding.temperature?")
    refused(2, [*call, "decoding.top_p=2"], "decoding: decoding.top_p must be", "got 2")
    refused(2, [*call, "decoding.neighbours=2"], "decoding.neighbours was removed", "Take")
    both = [*call, "decoding.method=greedy", "--set", "decoding.temperature=0.5"]
    refused(2, both, "has no effect", '"greedy"')


def test_a_stopped_run_continues_to_the_same_bits(fresh, capsys):
    short = fresh / "short"
    call = ["train", str(fresh / "recipe.toml"), "--run", str(short), "--json"]
    assert main(call) == 0
    shutil.rmtree(max((short / "checkpoints").iterdir()))
    (short / "regard.json").unlink()
    assert main([*call, "--resume"]) == 0
    kept = (fresh / "run" / "model.safetensors").read_bytes()
    assert (short / "model.safetensors").read_bytes() == kept


def test_a_run_is_resumed_with_its_own_settings(fresh, capsys):
    short = fresh / "short"
    call = ["train", str(fresh / "recipe.toml"), "--run", str(short)]
    assert main([*call, "--set", "training.clip=0.5"]) == 0
    (short / "regard.json").unlink()
    assert main([*call, "--resume"]) == 0
    assert "the settings are those of" in capsys.readouterr().err
    assert regard.load(short).run.recipe.training.clip == 0.5


def test_one_run_per_seed_is_trained_and_compared(fresh, capsys):
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "of"), "--json"]
    assert main([*call, "--seeds", "5", "7"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["run"] for one in result["runs"]] == [str(fresh / "of-5"), str(fresh / "of-7")]
    assert regard.load(fresh / "of-7").run.recipe.seed == 7
    (group,) = result["comparison"]["groups"]
    assert group["seeds"] == [5, 7]
    seals = [(fresh / name / "regard.json").stat().st_mtime_ns for name in ("of-5", "of-7")]
    (fresh / "of-7" / "regard.json").unlink()
    assert main([*call[:-1], "--seeds", "5", "7", "--resume"]) == 0
    assert "seeds" in capsys.readouterr().out
    assert (fresh / "of-5" / "regard.json").stat().st_mtime_ns == seals[0]  # finished: not touched
    assert regard.load(fresh / "of-7").run.summary["steps"]


def test_wrong_texts_are_refused_in_two_lines(fresh, refused):
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "new")]
    (fresh / "text.txt").write_text("")
    refused(1, call, "empty")
    (fresh / "text.txt").write_text("too short")
    refused(1, call, "window", "text.max_length")
    (fresh / "text.txt").write_bytes(b"fine\nbroken \xff here\n" * 9)
    refused(1, call, "text.txt:2", "0xFF")
    assert not (fresh / "new").exists()


def test_init_writes_a_recipe_that_trains(fresh, said):
    (fresh / "plays.txt").write_text("\n".join(verses()) * 30)
    recipe = fresh / "own.toml"
    call = [
        "init",
        "language-modelling",
        "--data",
        str(fresh / "plays.txt"),
        "--output",
        str(recipe),
    ]
    assert main([*call, "--json"]) == 0
    assert "text.tokenizer" in said()["reasons"]
    small = ["training.budget=2 steps", "training.evaluations=1", "training.threads=1"]
    sets = [word for set in small for word in ("--set", set)]
    assert main(["train", str(recipe), "--run", str(fresh / "own"), "--json", *sets]) == 0
    assert said()["steps"] == 2
