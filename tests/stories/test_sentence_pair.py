"""Own pairs in, a model that compares them out; and every wrong turn."""

import numpy as np
import pytest

from regard.cli.main import main

RECIPE = """
task = "sentence-pair"
[data]
train = ["train.tsv"]
valid = ["valid.tsv"]
[text]
vocabulary = 300
max_length = 24
overlong = "head"
[model]
width = 16
depth = 1
feed_forward = 23
dropout = 0.0
mixer = { kind = "attention", heads = 2 }
embedding = { segments = 2 }
[model.head]
pooling = "mean-max"
[training]
budget = "100 steps"
batch_tokens = 400
evaluations = 2
label_smoothing = 0.0
threads = 1
optimizer = { kind = "adamw", rate = 0.01 }
"""
THINGS = ("film", "song", "book", "play", "dish")


def pairs(count, seed):
    """Make pairs whose second text denies the first or not."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        thing, denied, number = rng.choice(THINGS), rng.integers(2), rng.integers(97)
        second = f"the {thing} is {'not ' * denied}number {number}"
        yield f"this {thing} is number {number}", second, denied


def write(folder):
    for name, count, seed in (("train", 151, 1), ("valid", 53, 2)):
        rows = (f"{a}\t{b}\t{['same', 'denied'][d]}\n" for a, b, d in pairs(count, seed))
        (folder / f"{name}.tsv").write_text("".join(rows))
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(settled):
    return settled("pairs", write)


def train(folder, *more):
    return ["train", str(folder / "recipe.toml"), "--run", str(folder / "new"), *more]


def test_pairs_are_learned_measured_and_answered(home, capsys, said, refused):
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    scores = said()["metrics"]
    assert scores["accuracy"] > 0.95 and scores["baseline"]["accuracy"] > 0.95
    asked = "this song is number 3\tthe song is not number 3"
    assert main(["predict", str(home / "run"), asked]) == 0
    assert capsys.readouterr().out.split("\t")[0] == "denied"
    refused(2, ["predict", str(home / "run"), "only one text"], "separated by a tab")


def test_scores_are_learned_measured_and_answered(fresh, capsys, said):
    for name, count, seed in (("train", 151, 1), ("valid", 53, 2)):
        rows = (f"{a}\t{b}\t{4.5 - 3 * d}\n" for a, b, d in pairs(count, seed))
        (fresh / f"{name}.tsv").write_text("".join(rows))
    assert main([*train(fresh, "--set", "data.scores=true"), "--json"]) == 0
    scores = said()["metrics"]
    assert scores["pearson"] > 0.9 and scores["baseline"]["pearson"] > 0.9
    assert "score_range = [1.5, 4.5]" in (fresh / "new" / "recipe.toml").read_text()
    asked = "this song is number 3\tthe song is not number 3"
    assert main(["predict", str(fresh / "new"), asked]) == 0
    assert float(capsys.readouterr().out) < 2.5


def test_a_score_that_is_no_number_is_refused_with_its_line(fresh, refused):
    refused(1, train(fresh, "--set", "data.scores=true"), "train.tsv:1", "'denied'"[:4])
    assert main(["check", str(fresh / "recipe.toml"), "--set", "data.scores=true"]) == 1


def test_init_tells_labels_from_scores(fresh, capsys):
    rng = np.random.default_rng(0)
    rows = (f"{a}\t{b}\t{rng.uniform(0, 5):.2f}\n" for a, b, _ in pairs(151, 1))
    (fresh / "scores.tsv").write_text("".join(rows))
    for name, scores in (("train", "false"), ("scores", "true")):
        out = fresh / f"{name}.toml"
        call = ["init", "sentence-pair", "--data", str(fresh / f"{name}.tsv"), "--output", str(out)]
        assert main(call) == 0
        assert f"scores = {scores}" in out.read_text()
        assert main(["check", str(out)]) == 0
    small = ["--set", "training.budget=3 steps", "--set", "training.threads=1"]
    assert main(["train", str(out), "--run", str(fresh / "new"), *small, "--json"]) == 0


def test_a_file_of_single_texts_is_refused(fresh, refused):
    (fresh / "plain.txt").write_text("one text\nanother text\n")
    more = ["--set", f'data.train=["{fresh / "plain.txt"}"]']
    refused(2, train(fresh, *more), "3 fields", "plain.txt")
    (fresh / "two.tsv").write_text("one text\tlabel\n")
    more = ["--set", f'data.train=["{fresh / "two.tsv"}"]']
    refused(1, train(fresh, *more), "two.tsv:1", "2 columns")
    assert not (fresh / "new").exists()


def test_tables_are_read_as_benchmarks_write_them(fresh, capsys, said):
    """A header, a text file with tabs, a csv with tabs, columns by number, longer rows."""
    rows = [f"{n}\t{a}\t{b}\t{4.5 - 3 * d}\t{d}" for n, (a, b, d) in enumerate(pairs(61, 1))]
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    (fresh / "SICK.txt").write_text("\n".join([head, *rows]))
    (fresh / "sts.csv").write_text("\n".join([*rows[:5], rows[5] + "\tfrom\tsomewhere", *rows[6:]]))
    for file, more in (
        ("SICK.txt", []),
        (
            "SICK.txt",
            ['data.fields=["sentence_A", "sentence_B", "relatedness_score"]', "data.scores=true"],
        ),
        ("sts.csv", ["data.fields=[1, 2, 3]", "data.scores=true"]),
    ):
        sets = [f'data.train=["{fresh / file}"]', "data.valid=[]", *more]
        call = [
            "check",
            str(fresh / "recipe.toml"),
            *(part for one in sets for part in ("--set", one)),
        ]
        capsys.readouterr()
        assert main([*call, "--json"]) == 0
        assert said()["records"]["train"] == 61
