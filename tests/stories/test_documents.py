"""Documents of several sentences in, labels and attention out; and every wrong input."""

import json

import numpy as np
import pytest

from regard.cli.main import main

RECIPE = """
task = "classification"
[data]
train = ["train.jsonl"]
valid = ["valid.jsonl"]
[text]
tokenizer = "words"
vocabulary = 400
max_length = 64
[model]
width = 12
depth = 1
feed_forward = 23
dropout = 0.0
[training]
budget = "40 steps"
batch_tokens = 800
evaluations = 1
checkpoints = 1
label_smoothing = 0.0
threads = 1
optimizer = { kind = "adamw", rate = 0.02 }
"""
KINDS = {
    "han": """
        [model.mixer]
        kind = "recurrent"
        [model.position]
        kind = "none"
        [model.documents]
        read = "sentences"
        [model.head]
        pooling = "attention"
        """,
    "context": """
        [model.mixer]
        kind = "attention"
        heads = 2
        [model.documents]
        read = "sentences"
        context = "both"
        gated = true
        [model.head]
        pooling = "attention"
        """,
    "hops": """
        [model.mixer]
        kind = "recurrent"
        cell = "lstm"
        [model.position]
        kind = "none"
        [model.head]
        pooling = "hops"
        [model.head.hops]
        hops = 3
        narrow = "pruned"
        row_features = 5
        penalty_weight = 0.1
        """,
}
GOOD, BAD = ("fine", "lovely", "warm"), ("dull", "awful", "cold")
THINGS = ("film", "song", "book", "play", "dish")
FILLER = ("We came late.", "It rained all day.", "Nobody knew us there.")


def texts(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        good = rng.integers(2)
        verdict = f"I found the {rng.choice(THINGS)} {rng.choice(GOOD if good else BAD)}."
        sentences = [*rng.choice(FILLER, rng.integers(1, 4)), verdict]
        yield " ".join(rng.permutation(sentences)), ["neg", "pos"][good]


def write(folder, kind):
    for name, count, seed in (("train", 120, 1), ("valid", 30, 2)):
        rows = ({"text": text, "label": label} for text, label in texts(count, seed))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    (folder / "recipe.toml").write_text(RECIPE + KINDS[kind])


@pytest.fixture(scope="module", params=KINDS)
def home(request, settled):
    """Return a folder with data, a recipe and a finished run."""
    return settled(request.param, lambda folder: write(folder, request.param))


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return data and a recipe that a test may spoil."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    write(tmp_path, "han")
    return tmp_path


def train(folder, *more):
    return ["train", str(folder / "recipe.toml"), "--run", str(folder / "new"), "--json", *more]


ASKED = "We came late. I found the dish awful. It rained all day."


def test_it_learns_and_answers(home, said):
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    assert said()["metrics"]["accuracy"] > 0.9
    assert main(["predict", str(home / "run"), ASKED, "--json"]) == 0
    assert said()["answers"][0]["text"] == "neg"


def test_the_document_is_drawn_with_its_faithfulness(home, capsys, said):
    html, svg = home / "asked.html", home / "asked.svg"
    call = ["explain", str(home / "run"), ASKED]
    assert main([*call, "--output", str(html), "--output", str(svg)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert 'Faithfulness of the attention weights. The label "neg" d' in shown
    assert "Faithfulness" in html.read_text() and "Faithfulness" in svg.read_text()
    assert main([*call, "--json"]) == 0
    result = said()
    assert result["answer"] == "neg" and result["faithfulness"]["sentence"] in shown
    assert result["faithfulness"]["comprehensiveness"].keys() == {"top", "random", "low", "high"}
    assert result["attribution"]["name"] == "integrated-gradients" and result["attribution"][
        "answers"
    ] == ["neg"]
    words = [word for one in result["views"][0]["sentences"] for word in one["words"]]
    assert "".join(words) == ASKED.replace(" ", "")
    if "han" in home.name or "context" in home.name:
        sentences = result["views"][0]["sentences"]
        assert [len(one["words"]) for one in sentences] == [4, 6, 5]
        assert sum(one["weight"] for one in sentences) == pytest.approx(1, abs=1e-5)
        for one in sentences:
            assert sum(one["weights"]) == pytest.approx(1, abs=1e-5)
    else:
        assert [view["name"] for view in result["views"]][1:] == ["hop 1", "hop 2", "hop 3"]
        assert np.asarray(result["overlap"]).shape == (3, 3)
        assert np.diag(result["overlap"]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["gradient", "integrated-gradients", "occlusion"])
def test_other_attributions_score_the_same_words_in_their_order(home, said, name):
    assert main(["explain", str(home / "run"), ASKED, "--attribution", name, "--json"]) == 0
    result = said()
    assert result["attribution"]["name"] == name and result["views"]
    scored = dict(enumerate(result["attribution"]["scores"][0]))
    words = [word for word in result["attribution"]["words"] if not word.startswith("[")]
    assert "".join(words) == ASKED.replace(" ", "") and any(scored.values())
    assert all(
        scored[n] == 0 for n, word in enumerate(result["attribution"]["words"]) if word[0] == "["
    )


def test_rollout_needs_layers_over_the_same_words(home, refused):
    if "hops" in home.name:
        pytest.skip("its attention is over the words")
    refused(
        2, ["explain", str(home / "run"), ASKED, "--attribution", "rollout"], "sentences one by one"
    )


def test_the_report_draws_a_held_out_document(home):
    page = (home / "run" / "report.html").read_text()
    assert 'id="document"' in page and "Over 12 held-out documents" in page


def test_a_document_without_a_sentence_is_refused_with_its_place(fresh, refused):
    with (fresh / "train.jsonl").open("a") as file:
        file.write(json.dumps({"text": " \n ", "label": "pos"}) + "\n")
    refused(1, train(fresh), "train.jsonl:121", "empty")


def test_or_answered_with_a_blank_and_never_drawn(home, capsys, refused):
    (home / "lines").write_text(f"{ASKED}\n \n{ASKED}\n")
    assert main(["predict", str(home / "run"), "--input", str(home / "lines")]) == 0
    first, blank, last = capsys.readouterr().out.splitlines()
    assert first == last and blank == ""
    refused(2, ["explain", str(home / "run"), "  "], "the text to explain", "empty")


def test_one_sentence_of_ten_thousand_words(home, said, refused):
    endless = "dish " * 10_000
    call = ["predict", str(home / "run"), endless, "--json"]
    refused(2, call, "this model reads at most 64", "--truncate")
    assert main([*call, "--truncate"]) == 0
    assert said()["answers"][0]["truncated"] > 9_900


def test_is_left_out_of_training_or_cut_as_the_recipe_says(fresh, capsys):
    with (fresh / "train.jsonl").open("a") as file:
        file.write(json.dumps({"text": "dish " * 10_000, "label": "pos"}) + "\n")
    assert main(train(fresh, "--set", "training.budget=2 steps")) == 0
    assert json.loads((fresh / "new" / "metrics.json").read_text())["training"]["overlong"] == 1
    capsys.readouterr()
    cut = [str(fresh / "cut") if part.endswith("new") else part for part in train(fresh)]
    cut += ["--set", "text.overlong=head-tail", "--set", "training.budget=2 steps"]
    assert main(cut) == 0
    assert json.loads((fresh / "cut" / "metrics.json").read_text())["training"]["overlong"] == 0
    capsys.readouterr()
    assert main(["explain", str(fresh / "cut"), "dish " * 101]) == 0
    assert "tokens 6" in " ".join(capsys.readouterr().out.split())  # at most 64 of the 101
    assert main(["explain", str(fresh / "cut"), ASKED]) == 0
    assert "were read" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("model.head.pooling=mean", ("needs attention pooling of sentences", "pooling")),
        ("model.documents.gated=true", ("gated", "context", "no effect")),
        ("model.documents.read=whole model.documents.depth=2", ("depth", "no effect")),
        ("model.head.hops.hops=5", ("model.head.hops", "no effect")),
        ("model.states=6", ("bare", "states")),
        ("task=sentence-pair", ("model.documents.read", "classification")),
    ],
)
def test_settings_that_say_nothing_are_refused(fresh, changed, words, refused):
    sets = [part for one in changed.split() for part in ("--set", one)]
    refused(2, train(fresh, *sets), *words)


def test_a_body_is_carried_into_the_words_of_a_document(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REGARD_CACHE", str(home / "cache"))
    if "hops" in home.name:
        pytest.skip("its body is another")
    again = tmp_path / "again.toml"
    recipe = (
        (home / "recipe.toml").read_text().replace('"train.jsonl"', f'"{home / "train.jsonl"}"')
    )
    again.write_text(recipe.replace('"valid.jsonl"', f'"{home / "valid.jsonl"}"'))
    call = ["train", str(again), "--run", str(tmp_path / "run"), "--json"]
    call += ["--set", f"model.start.run={home / 'run'}", "--set", "training.budget=1 steps"]
    assert main([*call, "--set", "model.start.carry=embedding"]) == 0
    began = json.loads((tmp_path / "run" / "metrics.json").read_text())["training"]["began"]
    assert list(began["carried"]) == ["body.reading"] and "sentences" in began["new"]
