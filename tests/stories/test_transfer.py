"""Pretrain, transfer the body, compare and explain: transfer learning by the commands."""

import json

import pytest

from regard.cli.main import main

GOOD, BAD = ("fine", "lovely", "great", "clever"), ("dull", "poor", "weak", "silly")
THINGS = ("book", "story", "ending", "hero", "style", "plot", "scene")

BODY = """
[model]
width = 12
depth = 2
feed_forward = 17
mixer = { kind = "attention", heads = 2 }
position = { kind = "rotary" }
"""
TRAINING = """
[training]
budget = "12 steps"
batch_tokens = 200
evaluations = 2
threads = 1
"""
PRETRAIN = f"""
task = "language-modelling"
data = {{ train = "text.txt" }}
text = {{ vocabulary = 300, max_length = 16 }}
{BODY}{TRAINING}"""
MASKED = PRETRAIN.replace("language-modelling", "masked-pretraining")
PRETRAIN = f'{PRETRAIN}[decoding]\nmethod = "greedy"\nmax_length = 5\n'
CLASSIFY = f"""
task = "classification"
data = {{ train = "train.tsv", test = "test.tsv" }}
text = {{ max_length = 16 }}
[model.start]
run = "lm"
{TRAINING}evaluate_first = true
"""


def texts():
    for number, (one, other) in enumerate((a, b) for a in THINGS for b in THINGS):
        for words, name in ((GOOD, "good"), (BAD, "bad")):
            yield f"the {one} is {words[number % 4]} and the {other} too", name


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with data, recipes and finished runs, made once."""
    folder = tmp_path_factory.mktemp("home")
    every = list(texts())
    for name, part in (("train", every[:70]), ("test", every[70:])):
        (folder / f"{name}.tsv").write_text("".join(f"{t}\t{n}\n" for t, n in part))
    (folder / "text.txt").write_text("\n\n".join(t for t, _ in every[:70]) + "\n")
    (folder / "lm.toml").write_text(PRETRAIN)
    (folder / "masked.toml").write_text(MASKED)
    (folder / "classify.toml").write_text(CLASSIFY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        for recipe, run, sets in (
            ("lm", "lm", ()),
            ("masked", "masked", ()),
            ("classify", "warm-1", ()),
            ("classify", "warm-2", ("seed=2",)),
            ("classify", "frozen-1", ("model.start.freeze=true",)),
            ("classify", "both-ways", (f"model.start.run={folder / 'masked'}",)),
        ):
            more = [word for each in sets for word in ("--set", each)]
            code = main(
                [
                    "train",
                    str(folder / f"{recipe}.toml"),
                    "--run",
                    str(folder / run),
                    "--json",
                    *more,
                ]
            )
            assert code == 0
    return folder


def said(capsys, arguments):
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_causal_body_makes_a_causal_classifier_and_any_other_does_not(home):
    causal = (home / "warm-1" / "recipe.toml").read_text()
    assert "causal = true" in causal and 'kind = "rotary"' in causal
    assert "causal = true" not in (home / "both-ways" / "recipe.toml").read_text()


def test_card_and_report_say_what_was_carried(home):
    for paper in ("README.md", "report.html"):
        text = (home / "warm-1" / paper).read_text()
        assert "Started from the run lm" in text and "body.stack" in text and "head" in text
    report = (home / "warm-1" / "report.html").read_text()
    assert "layer 2, head 2" in report and 'class="confusion"' in report
    assert "logistic regression on " in report and "https://" not in report


def test_an_evaluation_before_the_first_step_is_in_the_journal(home):
    written = (home / "warm-1" / "journal.jsonl").read_text()
    lines = [json.loads(line) for line in written.splitlines()]
    evaluations = [line for line in lines if line["event"] == "evaluation"]
    assert [line["step"] for line in evaluations] == [0, 6, 12]
    assert evaluations[0]["epochs"] == 0.0 and 0 <= evaluations[0]["metrics"]["accuracy"] <= 1


def test_runs_are_compared_and_the_page_needs_nothing(home, capsys):
    runs = [str(home / name) for name in ("warm-1", "warm-2", "frozen-1")]
    result = said(capsys, ["compare", *runs, "--output", str(home / "compared.html")])
    names = [group["name"] for group in result["groups"]]
    assert names == ["model.start.freeze false", "model.start.freeze true"]
    assert result["groups"][0]["seeds"] == [1, 2] and result["count"] == 28
    accuracy = next(pair for pair in result["pairs"] if pair["metric"] == "accuracy")
    assert 0 < accuracy["p_bootstrap"] <= 1 and accuracy["p_seeds"] is None
    page = (home / "compared.html").read_text()
    assert 'class="band"' in page and "https://" not in page
    assert main(["compare", *runs]) == 0
    shown = capsys.readouterr().out
    assert "±" in shown and "baseline" in shown


def test_one_run_still_has_its_row(home, capsys):
    assert main(["compare", str(home / "warm-1")]) == 0
    assert "classification" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["compare", "{home}/nowhere"], 2, "is not a run folder"),
        (["compare", "{home}/lm", "{home}/warm-1"], 2, "one task"),
        (["compare", "{home}/warm-1", "--output", "{home}/page.html"], 2, "nothing is overwritten"),
    ],
)
def test_wrong_calls_are_refused(home, capsys, arguments, code, word):
    (home / "page.html").touch()
    assert main([part.format(home=home) for part in arguments]) == code
    assert word in capsys.readouterr().err


def test_every_kind_of_model_shows_its_attention(home, capsys, tmp_path):
    for run in ("lm", "masked", "warm-1", "both-ways"):
        page, picture = tmp_path / f"{run}.html", tmp_path / f"{run}.svg"
        more = ["--output", str(page), "--output", str(picture)]
        result = said(capsys, ["explain", str(home / run), "the plot is fine", *more])
        assert result["layers"] == 2 and result["heads"] == 2
        assert result["source"] == result["target"] and "plot" in result["source"]
        rows = [row for layer in result["weights"] for head in layer for row in head]
        assert all(abs(sum(row) - 1) < 1e-4 for row in rows)
        causal = run in ("lm", "warm-1")
        assert (max(result["weights"][0][0][0][1:]) < 1e-6) == causal  # the first sees itself only
        assert "<svg" in picture.read_text() and "visible to it" in page.read_text()
    assert main(["explain", str(home / "warm-1"), "the plot is fine"]) == 0
    assert capsys.readouterr().out.split()[0] in ("good", "bad")


def test_another_tokenizer_is_refused(home, capsys):
    call = ["train", str(home / "classify.toml"), "--run", str(home / "never")]
    assert main([*call, "--set", "text.vocabulary=400"]) == 1
    result = capsys.readouterr().err
    assert (
        "text.vocabulary is 400 here and 300 in" in result and "tokenizer must be the one" in result
    )
    assert not (home / "never").exists()


@pytest.mark.parametrize("body", ["lm", "masked"])
def test_init_writes_a_recipe_that_begins_from_a_run(home, capsys, tmp_path, monkeypatch, body):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(home)
    recipe = tmp_path / "own.toml"
    call = [
        "init",
        "classification",
        "--data",
        "train.tsv",
        "--start",
        body,
        "--output",
        str(recipe),
    ]
    assert "model.start.run" in said(capsys, call)["reasons"]
    monkeypatch.chdir(tmp_path)  # a recipe finds what it names wherever it is called from
    assert main(["check", str(recipe)]) == 0
    small = ["--set", "training.budget=2 steps", "--set", "training.threads=1"]
    assert said(capsys, ["train", str(recipe), "--run", "run", *small])["steps"] == 2
    assert f"Started from the run {body}, model" in (tmp_path / "run" / "README.md").read_text()


def test_init_says_what_it_cannot_begin_from(home, capsys, tmp_path):
    data, out = str(home / "train.tsv"), tmp_path / "own.toml"
    call = ["init", "classification", "--data", data, "--output", str(out), "--start"]
    assert main([*call, str(home / "nowhere")]) == 2
    assert "nowhere is not a run folder" in capsys.readouterr().err
    assert not out.exists()
