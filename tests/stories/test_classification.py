"""Own texts with labels in, a classifier out; and every wrong turn."""

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.torch import load_file

from regard.cli.main import main
from regard.run import Run

RECIPE = """
task = "classification"
[data]
train = ["train.jsonl"]
valid = ["valid.jsonl"]
[text]
vocabulary = 300
max_length = 24
overlong = "head-tail"
[model]
width = 16
depth = 1
feed_forward = 23
dropout = 0.0
mixer = { kind = "attention", heads = 2 }
[model.head]
pooling = "mean-max"
[training]
budget = "60 steps"
batch_tokens = 400
evaluations = 2
label_smoothing = 0.0
threads = 1
optimizer = { kind = "adamw", rate = 0.01 }
"""
GOOD, BAD = ("fine", "lovely", "warm"), ("dull", "awful", "cold")
THINGS = ("film", "song", "book", "play", "dish")


def texts(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        good = rng.integers(2)
        word, thing = rng.choice(GOOD if good else BAD), rng.choice(THINGS)
        yield f"the {thing} number {rng.integers(97)} was {word}", ["neg", "pos"][good]


def write(folder):
    for name, count, seed in (("train", 151, 1), ("valid", 53, 2)):
        rows = ({"text": text, "label": label} for text, label in texts(count, seed))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(settled):
    """Return a folder with data, a recipe and a finished run, made once."""
    return settled("labels", write)


def train(folder, *more):
    return ["train", str(folder / "recipe.toml"), "--run", str(folder / "new"), *more]


def test_it_learns_and_the_baseline_is_scored_too(home, capsys, said):
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    result = said()
    scores = result["metrics"]
    assert scores["accuracy"] > 0.95 and scores["baseline"]["accuracy"] > 0.95
    assert set(scores["together"]) == {"accuracy", "macro_f1", "ece", "loss"}
    assert np.sum(result["details"]["confusion"]) == result["count"] == 53
    assert main(["evaluate", str(home / "run")]) == 0
    shown = capsys.readouterr().out
    assert "baseline" in shown and "together" in shown and "%" in shown


def test_the_networks_own_score_is_shown_with_the_ensembles(home, tmp_path, capsys):
    for name in ("train.jsonl", "valid.jsonl", "recipe.toml"):
        shutil.copy(home / name, tmp_path / name)
    assert main([*train(tmp_path, "--set", "decoding.baseline_weight=0.5")]) == 0
    capsys.readouterr()
    kept = json.loads((tmp_path / "new" / "metrics.json").read_text())["valid"]
    plain = json.loads((home / "run" / "metrics.json").read_text())["valid"]
    alone = kept["details"]["alone"]
    assert alone == {"network": pytest.approx(plain["metrics"]["accuracy"])}
    assert "alone" not in plain["details"]
    for folder, members in ((tmp_path / "new", 2), (home / "run", 0)):
        assert main(["explain", str(folder), "the song was lovely", "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["members"]) == members
    result = f"accuracy alone: network {100 * alone['network']:.1f}%."
    for page in ("README.md", "report.html"):
        assert result in (tmp_path / "new" / page).read_text()
        assert "accuracy alone" not in (home / "run" / page).read_text()


def test_a_finished_run_can_be_asked_together_with_its_bag(home, said):
    call = ["evaluate", str(home / "run"), "--split", "valid", "--json"]
    assert main(call) == 0
    plain = said()["metrics"]
    assert main([*call, "--set", "decoding.baseline_weight=0.5"]) == 0
    both = said()["metrics"]
    assert both["loss"] == pytest.approx(plain["together"]["loss"], rel=1e-5)
    assert both["loss"] != pytest.approx(plain["loss"], rel=1e-3)


def test_two_runs_answer_together(home, tmp_path, capsys, said):
    for name in ("train.jsonl", "valid.jsonl", "recipe.toml"):
        shutil.copy(home / name, tmp_path / name)
    other = ("--set", "seed=5", "--set", "training.budget=20 steps", "--set", "text.max_length=17")
    assert main(train(tmp_path, *other)) == 0
    capsys.readouterr()
    first, second, asked = str(home / "run"), str(tmp_path / "new"), "the song was lovely"

    def probability(*runs):
        assert main(["predict", runs[0], asked, "--json", *runs[1:]]) == 0
        return said()["answers"][0]["probabilities"]["pos"]

    odds = [np.log(p / (1 - p)) for p in (probability(first), probability(second))]
    both = probability(first, "--ensemble", second)
    assert np.log(both / (1 - both)) == pytest.approx(np.mean(odds), abs=1e-3)
    assert odds[0] != pytest.approx(odds[1], abs=0.02)
    assert main(["predict", first, asked, "--ensemble", second, "--vectors"]) == 2
    assert "have no mean" in capsys.readouterr().err
    call = ["evaluate", first, "--ensemble", second, "--ensemble", first, "--split", "valid"]
    assert main([*call, "--json"]) == 0
    assert set(said()["details"]["alone"]) == {"network", "networks"}
    assert main(call) == 0
    assert "networks" in capsys.readouterr().out


def test_runs_that_tell_other_labels_do_not_answer_together(home, tmp_path, capsys):
    for name in ("train.jsonl", "valid.jsonl"):
        text = (home / name).read_text().replace('"pos"', '"good"')
        (tmp_path / name).write_text(text)
    shutil.copy(home / "recipe.toml", tmp_path / "recipe.toml")
    assert main(train(tmp_path, "--set", "training.budget=2 steps")) == 0
    capsys.readouterr()
    assert main(["predict", str(home / "run"), "a text", "--ensemble", str(tmp_path / "new")]) == 2
    problem, remedy = capsys.readouterr().err.strip().split("\n")
    assert "neg, pos" in problem and "good, neg" in problem
    assert "same labels" in remedy


def test_the_run_says_its_labels_and_its_baseline(home):
    assert 'labels = ["neg", "pos"]' in (home / "run" / "recipe.toml").read_text()
    card = (home / "run" / "README.md").read_text()
    assert "text-classification" in card and "logistic regression on tf-idf" in card
    assert (home / "run" / "baseline.safetensors").exists()


def test_it_answers_with_a_label_and_its_probability(home, capsys, said):
    (home / "in.txt").write_text("the film was lovely\n\nan awful dish\n")
    assert main(["predict", str(home / "run"), "--input", str(home / "in.txt")]) == 0
    first, blank, last = capsys.readouterr().out.splitlines()
    assert first.split("\t")[0] == "pos" and blank == "" and last.split("\t")[0] == "neg"
    assert 0.5 < float(first.split("\t")[1]) <= 1.0
    assert main(["predict", str(home / "run"), "a cold song", "--json"]) == 0
    answer = said()["answers"][0]
    assert answer["text"] == "neg" and sum(answer["probabilities"].values()) == pytest.approx(1)
    assert main(["predict", str(home / "run"), "warm " * 97, "--json"]) == 0
    assert said()["answers"][0]["truncated"] >= 97 - 22


def test_a_stopped_run_continues_to_the_same_bits(fresh, monkeypatch):
    from regard.errors import Stopped
    from regard.training import loop

    short = ["--set", "training.budget=20 steps", "--set", "training.checkpoints=4"]
    assert main([*train(fresh, *short), "--json"]) == 0
    whole = (fresh / "new" / "model.safetensors").read_bytes()
    bag = (fresh / "new" / "baseline.safetensors").read_bytes()
    shutil.rmtree(fresh / "new")
    take = loop.Loop._save

    def save_and_stop(self):
        take(self)
        raise Stopped("stopped.", "Go on.")

    monkeypatch.setattr(loop.Loop, "_save", save_and_stop)
    assert main(train(fresh, *short)) == 143
    monkeypatch.setattr(loop.Loop, "_save", take)
    assert main(train(fresh, *short, "--resume")) == 0
    assert (fresh / "new" / "model.safetensors").read_bytes() == whole
    assert (fresh / "new" / "baseline.safetensors").read_bytes() == bag


def test_init_chooses_for_labels_and_check_counts_them(fresh, capsys, said):
    out = fresh / "mine.toml"
    call = ["init", "classification", "--data", str(fresh / "train.jsonl"), "--output", str(out)]
    assert main(call) == 0
    assert 'task = "classification"' in out.read_text() and "# Chosen: " in out.read_text()
    capsys.readouterr()
    assert main(["check", str(out), "--json"]) == 0
    assert set(said()["labels"]["train"]) == {"neg", "pos"}
    small = [
        *("--set", "training.budget=3 steps"),
        *("--set", "training.threads=1"),
        *("--set", "model.embedding.ngram_rows=97"),
    ]
    assert main(["train", str(out), "--run", str(fresh / "new"), *small, "--json"]) == 0


def test_several_labels_per_text_are_read_learned_and_answered(fresh, capsys, said, refused):
    rows = []
    for text, label in texts(151, 3):
        thing = text.split()[1]
        rows.append(json.dumps({"text": text, "label": [label, thing]}))
    (fresh / "train.jsonl").write_text("\n".join(rows))
    (fresh / "valid.jsonl").write_text("\n".join(rows[:31]))
    out = fresh / "many.toml"
    call = ["init", "classification", "--data", str(fresh / "train.jsonl"), "--output", str(out)]
    assert main(call) == 0 and 'label_separator = "|"' in out.read_text()
    several = ["--set", "data.label_separator=|"]
    capsys.readouterr()
    assert main(["check", str(fresh / "recipe.toml"), *several, "--json"]) == 0
    assert set(said()["labels"]["train"]) == {"neg", "pos", *THINGS}
    longer = ["--set", "training.budget=150 steps"]
    assert main([*train(fresh, *several, *longer), "--json"]) == 0
    scores = said()["metrics"]
    assert scores["micro_f1"] > 0.9 and scores["baseline"]["micro_f1"] > 0.9
    assert scores["subset_accuracy"] > 0.5 and scores["map"] > 0.9
    new = str(fresh / "new")
    assert main(["predict", new, "the book number 7 was dull"]) == 0
    assert capsys.readouterr().out.split("\t")[0] == "book|neg"
    details = Run(fresh / "new").metrics["valid"]["details"]
    assert details["no_label"]["true"] == 0
    thresholds = [each["threshold"] for each in details["by_label"].values()]
    assert thresholds == [0.5] * 7  # the labels are told apart without doubt
    assert "ensemble.thresholds.answer" in load_file(fresh / "new" / "baseline.safetensors")
    sure = ["--set", "decoding.threshold=1"]
    assert main(["predict", new, "the book number 7 was dull", *sure]) == 0
    assert capsys.readouterr().out.startswith("(no label)\t0.0")
    assert main(["predict", new, "the book number 7 was dull", *sure, "--json"]) == 0
    (answer,) = said()["answers"]
    assert (answer["text"], answer["labels"]) == ("", [])
    assert main(["evaluate", new, "--data", str(fresh / "valid.jsonl"), *sure]) == 0
    assert "of 31 texts 31 are answered with no label; 0 have none" in capsys.readouterr().out
    refused(1, [*train(fresh)[:3], str(fresh / "other")], "train.jsonl:1", "list")


def test_a_label_unseen_in_training_is_refused_with_its_line(fresh, home, said, refused):
    rows = (fresh / "valid.jsonl").read_text().splitlines()
    rows[6] = json.dumps({"text": "so so", "label": "meh"})
    (fresh / "valid.jsonl").write_text("\n".join(rows))
    refused(1, train(fresh), "valid.jsonl:7", "'meh'", "'neg', 'pos'")
    assert not (fresh / "new").exists()
    data = ["--data", str(fresh / "valid.jsonl")]
    refused(1, ["evaluate", str(home / "run"), *data], "valid.jsonl:7", "'meh'")
    assert main(["check", str(fresh / "recipe.toml"), "--json"]) == 0
    assert said()["counts"]["unknown-label"] == 1


def test_a_label_unseen_in_training_is_found_in_test_before_training(fresh, refused):
    (fresh / "test.jsonl").write_text(json.dumps({"text": "so so", "label": "meh"}))
    more = ["--set", f'data.test=["{fresh / "test.jsonl"}"]']
    refused(1, train(fresh, *more), "test.jsonl:1", "'meh'")
    assert not (fresh / "new").exists()


def test_a_label_that_the_recipe_does_not_list_is_refused(fresh, refused):
    more = ["--set", 'data.labels=["good", "pos"]']
    refused(1, train(fresh, *more), "train.jsonl:", "'neg'", "'good', 'pos'")


def test_a_training_set_of_one_class_is_refused(fresh, refused):
    rows = [json.dumps({"text": text, "label": "pos"}) for text, _ in texts(31, 1)]
    (fresh / "train.jsonl").write_text("\n".join(rows))
    refused(1, train(fresh), "two labels", "'pos'")
    assert not (fresh / "new").exists()


def test_an_empty_text_is_refused_with_its_line(fresh, refused):
    with (fresh / "train.jsonl").open("a") as file:
        file.write(json.dumps({"text": "  ", "label": "pos"}) + "\n")
    refused(1, train(fresh), "train.jsonl:152", "empty")
    assert main(["check", str(fresh / "recipe.toml")]) == 1


def test_a_text_without_labels_is_refused(fresh, refused):
    (fresh / "plain.txt").write_text("the film was fine\nthe song was dull\n")
    more = ["--set", f'data.train=["{fresh / "plain.txt"}"]']
    refused(2, train(fresh, *more), "2 fields", "plain.txt")


def test_labels_that_are_numbers_or_truths_are_taken_as_text(fresh, capsys):
    for name, count, seed in (("train", 61, 1), ("valid", 31, 2)):
        rows = (
            {"stars": 5 if label == "pos" else 1.5, "ok": label == "pos", "words": text}
            for text, label in texts(count, seed)
        )
        (fresh / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for field, labels in (("stars", ["1.5", "5"]), ("ok", ["false", "true"])):
        more = ["--set", f'data.fields=["words", "{field}"]', "--set", "training.budget=3 steps"]
        call = [*train(fresh, *more)[:3], str(fresh / field), *more]
        assert main([*call, "--json"]) == 0
        assert json.dumps(labels) in (fresh / field / "recipe.toml").read_text()


def test_runs_of_several_seeds_are_measured_on_the_same_held_out_texts(fresh, said):
    held_out = ["--set", "data.valid=[]", "--set", "training.budget=2 steps"]
    call = [*train(fresh, *held_out), "--seeds", "5", "7"]
    assert main([*call, "--json"]) == 0
    one, two = said()["runs"]
    first, second = Run(fresh / "new-5"), Run(fresh / "new-7")
    assert first.evaluation["data"] == second.evaluation["data"] and one["count"] == two["count"]
    assert (first.recipe.seed, second.recipe.seed) == (5, 7)
    assert first.recipe.data.holdout_seed == second.recipe.data.holdout_seed == 1


def test_init_says_what_training_takes_and_what_to_expect(fresh, capsys, said):
    call = ["init", "classification", "--data", str(fresh / "train.jsonl"), "--output"]
    assert main([*call, str(fresh / "a.toml")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"training takes about [\d.]+ (seconds|minutes) on this machine: 25 steps", shown
    )
    assert re.search(r"it needs about \d+ MiB of memory", shown)
    assert re.search(
        r"baseline, learned from 1\d\d texts, has accuracy 100.0% on \d\d others", shown
    )
    assert main([*call, str(fresh / "b.toml"), "--json"]) == 0
    forecast = said()["forecast"]
    assert forecast["steps"] == 25 and forecast["memory"] > 400 * 2**20 and forecast["pace"] > 0
    assert main([*call, str(fresh / "c.toml"), "--no-forecast"]) == 0
    assert "to expect" not in capsys.readouterr().out
