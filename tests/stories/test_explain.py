"""A run is explained: every attribution, every picture, and every wrong call."""

import json
import sys

import numpy as np
import pytest

from regard.cli.main import main

RECIPE = """
task = "{task}"
[data]
train = ["{file}"]
holdout = 0.2
[text]
vocabulary = 300
max_length = 24
[model]
width = 12
depth = 2
feed_forward = 17
dropout = 0.0
{model}
[training]
budget = "{steps} steps"
batch_tokens = 300
evaluations = 1
threads = 1
optimizer = {{ kind = "adamw", rate = 0.02 }}
"""
SHORT = '[decoding]\nmethod = "greedy"\nmax_length = 4\n'
ATTENTION = (
    'mixer = { kind = "attention", heads = 3 }\nposition = { kind = "learned", positions = 24 }'
)
RECURRENT = 'mixer = { kind = "recurrent" }\nposition = { kind = "none" }'
EVIL_LABEL = "<img src=x onerror=alert(1)>"
TEXT = "the film number 7 was lovely"
HOSTILE = "lovely <script>alert(1)</script> \x1b[2J\u202egnp \x07 </title>"


def texts(count):
    rng = np.random.default_rng(1)
    for _ in range(count):
        good = rng.integers(2)
        word = rng.choice(("fine", "lovely") if good else ("dull", "awful"))
        yield f"the film number {rng.integers(9)} was {word}", [EVIL_LABEL, "pos"][good]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with runs that attend, that do not, and one that writes; made once."""
    folder = tmp_path_factory.mktemp("explain")
    rows = list(texts(101))
    (folder / "a.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in rows))
    (folder / "a.txt").write_text("\n\n".join(text for text, _ in rows))
    kinds = {
        "attention": ("classification", "a.tsv", ATTENTION, 60),
        "recurrent": ("classification", "a.tsv", RECURRENT, 5),
        "language": ("language-modelling", "a.txt", ATTENTION, 5),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        for name, (task, file, model, steps) in kinds.items():
            recipe = RECIPE.format(task=task, file=folder / file, model=model, steps=steps)
            recipe += SHORT if task == "language-modelling" else ""
            (folder / f"{name}.toml").write_text(recipe)
            call = ["train", str(folder / f"{name}.toml"), "--run", str(folder / name), "--json"]
            assert main(call) == 0
    return folder


def said(capsys, call):
    capsys.readouterr()
    assert main([*call, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", ["weights", "rollout", "gradient", "integrated-gradients", "occlusion"]
)
def test_the_json_keeps_its_names_for_every_attribution(home, capsys, name):
    result = said(capsys, ["explain", str(home / "attention"), TEXT, "--attribution", name])
    assert result["tokens"] == result["source"] == ["[CLS]", *TEXT.split(), "[SEP]"]
    assert (result["layers"], result["heads"]) == (2, 3)
    assert np.asarray(result["weights"]).shape == (2, 3, 8, 8)
    assert result["attribution"]["name"] == name and len(result["attribution"]["scores"][0]) == 8
    figures = result["faithfulness"]
    assert figures["comprehensiveness"].keys() == {"top", "random", "low", "high"}
    assert isinstance(figures["faithful"], bool) and figures["sentence"].count("%") >= 4


def test_what_decides_is_found(home, capsys):
    result = said(capsys, ["explain", str(home / "attention"), TEXT, "--attribution", "occlusion"])
    words, scores = result["attribution"]["words"], np.abs(result["attribution"]["scores"][0])
    assert words[int(scores.argmax())] == "lovely"
    other = ["--attribution", "occlusion", "--label", EVIL_LABEL]
    turned = said(capsys, ["explain", str(home / "attention"), TEXT, *other])
    assert turned["attribution"]["answers"] == [EVIL_LABEL]
    best = int(scores.argmax())
    assert turned["attribution"]["scores"][0][best] * result["attribution"]["scores"][0][best] < 0


def test_head_mean_pieces_and_sinks_are_what_was_asked(home, capsys):
    call = ["explain", str(home / "attention"), TEXT]
    result = said(capsys, [*call, "--head", "1.3"])
    assert result["shown"] == {"layer": 1, "head": 3}
    assert said(capsys, [*call, "--head", "self.1.3"])["shown"] == result["shown"]
    assert said(capsys, [*call, "--head", "1.mean"])["shown"] == {"layer": 1, "head": None}
    assert said(capsys, [*call, "--head", "mean"])["shown"] == {"layer": 2, "head": None}
    assert said(capsys, [*call, "--head", "self"])["shown"]["layer"] == 2
    rest = said(capsys, [*call, "--sinks", "hide"])
    assert "[CLS]" not in rest["tokens"] and np.min(np.sum(rest["weights"], axis=-1)) < 0.99
    hidden = said(capsys, [*call, "--sinks", "renormalise"])
    assert "[CLS]" not in hidden["tokens"] and any("hidden" in note for note in hidden["notes"])
    np.testing.assert_allclose(np.sum(hidden["weights"], axis=-1), 1.0, rtol=1e-4)
    pieces = said(capsys, [*call, "--pieces"])
    assert len(pieces["tokens"]) >= len(result["tokens"]) and pieces["notes"] == []


def test_the_terminal_shows_heads_small_one_large_and_the_attribution(home, capsys):
    assert main(["explain", str(home / "attention"), TEXT]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("pos\n") and "all heads" in shown and "layer 2, head" in shown
    assert "Attribution by integrated gradients" in shown
    assert "Without this word its probability goes" in " ".join(shown.split())
    assert "\x1b" not in shown and "mean over heads" not in shown


def test_a_language_model_continues_and_is_explained(home, capsys):
    result = said(capsys, ["explain", str(home / "language"), "the film", "--continue"])
    assert len(result["source"]) > 3 and result["attribution"]["answers"]
    plain = said(
        capsys,
        ["explain", str(home / "language"), "the film was fine", "--attribution", "gradient"],
    )
    assert plain["attribution"]["answers"] == ["fine"]


def test_hostile_text_and_labels_are_shown_and_nothing_else(home, capsys, tmp_path):
    files = {name: tmp_path / f"a.{name}" for name in ("html", "svg")}
    more = [word for file in files.values() for word in ("--output", str(file))]
    call = ["explain", str(home / "attention"), HOSTILE, "--label", EVIL_LABEL]
    assert main([*call, *more]) == 0
    shown = capsys.readouterr().out
    pages = [file.read_text(encoding="utf-8") for file in files.values()]
    for text in (shown, *pages):
        assert not set(text) & set("\x1b\x07\u202e\x00")
    for page in pages:
        assert "<script>alert" not in page and "<img" not in page and "</title> " not in page
    assert pages[0].count("<script") == 2
    assert main([*call, *more]) == 2  # nothing is overwritten


def test_without_attention_other_attributions_work_and_maps_are_refused(
    home, capsys, tmp_path, refused
):
    run = str(home / "recurrent")
    for name in ("weights", "rollout"):
        call = ["explain", run, TEXT, "--attribution", name]
        refused(2, call, "mixer of this model is recurrent", "--attribution gradient")
    refused(2, ["heads", run, "--split", "valid"], "mixer of this model is recurrent")
    for name in ("gradient", "integrated-gradients", "occlusion"):
        page = tmp_path / f"{name}.html"
        result = said(capsys, ["explain", run, TEXT, "--attribution", name, "--output", str(page)])
        assert result["attribution"]["name"] == name and result["stack"] is None
        assert "Faithfulness" in page.read_text() and "<script" not in page.read_text()
    assert (
        main(
            [
                "explain",
                run,
                TEXT,
                "--attribution",
                "occlusion",
                "--output",
                str(tmp_path / "a.svg"),
            ]
        )
        == 0
    )
    assert "Attribution by occlusion" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([" \n "], ["empty"]),
        ([""], ["empty"]),
        ([TEXT, "--attribution", "magic"], ["weights, rollout", "'magic'"]),
        ([TEXT, "--head", "3.1"], ["layer", "counted from 1", "has 2"]),
        ([TEXT, "--head", "2.0"], ["head", "counted from 1", "has 3"]),
        ([TEXT, "--head", "2"], ["LAYER.HEAD", "'2'", "--head 2.3"]),
        ([TEXT, "--head", "1.2.3"], ["LAYER.HEAD", "'1.2.3'"]),
        ([TEXT, "--head", ""], ["LAYER.HEAD", "''"]),
        ([TEXT, "--head", "self.mean.2"], ["LAYER.HEAD", "'self.mean.2'"]),
        ([TEXT, "--head", "cross"], ["self", "'cross'"]),
        ([TEXT, "--sinks", "drop"], ["keep, hide, renormalise", "'drop'"]),
        ([TEXT, "--output", "a.pdf"], [".html, .svg, .png", "a.pdf"]),
        ([TEXT, "--label", "meh"], ["'meh'", "pos"]),
        ([TEXT, "--target", "x"], ["a target needs an encoder-decoder"]),
        ([TEXT, "--continue"], ["--continue needs a language model"]),
        ([], ["Missing argument", "text"]),
    ],
)
def test_wrong_calls_are_refused_in_two_lines(home, more, words, refused):
    refused(2, ["explain", str(home / "attention"), *more], *words)


def test_a_text_longer_than_the_positions_is_refused(home, refused):
    call = ["explain", str(home / "language"), "the film " * 40]
    refused(2, call, "model's input", "24", "Shorten the text")


def test_half_a_surrogate_pair_is_refused(home, refused):
    refused(1, ["explain", str(home / "attention"), "a \ud800 b"], "Unicode")


def test_a_png_needs_its_extra(home, tmp_path, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    call = ["explain", str(home / "attention"), TEXT, "--output", str(tmp_path / "a.png")]
    refused(2, call, "extra png", "pip install 'regard[png]'")


def test_a_png_is_drawn_without_style_variables(home, tmp_path):
    pytest.importorskip("resvg_py")
    file = tmp_path / "a.png"
    assert main(["explain", str(home / "attention"), TEXT, "--output", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_heads_are_analysed_to_a_page_and_to_json(home, capsys, tmp_path):
    page = tmp_path / "heads.html"
    call = ["heads", str(home / "attention"), "--data", str(home / "a.tsv")]
    result = said(capsys, [*call, "--output", str(page)])
    assert len(result["heads"]) == 6 and result["metric"] == "accuracy"
    assert result["pruning"]["least_important_first"][0] > 0.9
    assert result["pruning"]["pruned"] == list(range(7))
    assert main(call) == 0 and "6 pruned" in capsys.readouterr().out
    assert main([*call, "--output", str(page)]) == 2  # nothing is overwritten
    assert "heads pruned" in page.read_text() and "<script" not in page.read_text()


def test_python_gives_the_same_and_draws_itself(home):
    import regard

    found = regard.load(home / "attention").explain(TEXT, attribution="gradient", head="1.2")
    assert found.tokens[0] == "[CLS]" and found.weights.shape == (2, 3, 8, 8)
    assert found.faithfulness is not None and found.attribution.name == "gradient"
    drawn = found._repr_html_()
    assert drawn.startswith("<iframe sandbox") and drawn.count("<") == 2  # all else is escaped
    assert found.svg().startswith("<svg") and found.html().startswith("<!doctype html>")
