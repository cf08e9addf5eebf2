"""From a recipe to a better one: what is printed, written, resumed and refused."""

import csv
import json
import re

import pytest

from regard.cli.main import main
from regard.recipe.load import load

RECIPE = """
task = "classification"
data = { train = ["train.tsv"], valid = ["valid.tsv"] }
text = { vocabulary = 300, max_length = 24 }
model = { width = 8, depth = 1, feed_forward = 11, mixer = { heads = 2 } }
training = { budget = "9 steps", batch_tokens = 200, threads = 1 }
"""
CALL = ["--duration", "54 steps", "--trials", "3"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, count in (("train", 61), ("valid", 47)):
        rows = (f"a {'good' if n % 2 else 'bad'} film, number {n}\t{n % 2}\n" for n in range(count))
        (tmp_path / f"{name}.tsv").write_text("".join(rows))
    (tmp_path / "mine.toml").write_text(RECIPE)
    return tmp_path


def test_a_recipe_is_tuned_and_the_result_trains(home, capsys):
    assert main(["tune", "mine.toml", *CALL]) == 0
    out, err = capsys.readouterr()
    folder = home / "tuned" / "mine"
    assert "the recipe itself" in out and "the 95% interval" in out.lower()
    assert f"next: regard train {folder.relative_to(home)}/recipe.toml" in out
    assert "3 trials" in err and "rung 1 of 2" in err and "rung 2 of 2" in err
    table = list(csv.DictReader((folder / "trials.csv").read_text().splitlines()))
    assert {row["trial"] for row in table if row["status"] == "done"} >= {"0"}
    page = (folder / "report.html").read_text()
    assert "Content-Security-Policy" in page and "trial" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    written = (folder / "recipe.toml").read_text()
    assert "retrieval" not in written and "denoising" not in written and "[training]" in written
    found = load(folder / "recipe.toml")
    assert found.data.train == (str(home / "train.tsv"),)
    assert main(["train", str(folder / "recipe.toml"), "--run", "run", "--json"]) == 0


def test_json_is_one_object_and_an_interrupt_is_130(home, said, monkeypatch):
    assert main(["tune", "mine.toml", *CALL, "--json", "--output", "whole"]) == 0
    whole = said()
    assert whole["winner"]["score"] is not None and whole["verdicts"]
    from regard.tune import search

    real, calls = search.run_trial, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(search, "run_trial", interrupted)
    assert main(["tune", "mine.toml", *CALL, "--json", "--output", "cut"]) == 130
    cut = said()
    assert cut["interrupted"] and len([t for t in cut["trials"] if t["status"] == "done"]) == 2
    assert (home / "cut" / "recipe.toml").is_file() and (home / "cut" / "report.html").is_file()
    monkeypatch.undo()
    monkeypatch.chdir(home)
    assert main(["tune", "mine.toml", "--json", "--output", "cut", "--resume"]) == 0
    resumed = said()
    for found in (whole, resumed):
        del found["folder"]
        for trial in (found["winner"], *found["trials"]):
            del trial["seconds"]
    assert json.dumps(resumed) == json.dumps(whole)


def test_wrong_calls_are_refused(home, refused):
    refused(2, ["tune", "mine.toml", "--duration", "soon"], "soon", "15min")
    refused(2, ["tune", "mine.toml", "--size", "small"], "small", "10MB")
    refused(2, ["tune", "mine.toml", "--resume"], "nothing to resume")
    refused(2, ["tune", "nowhere.toml"], "nowhere.toml")
