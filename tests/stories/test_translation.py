"""The first whole story, as a user lives it: own files in, a translator out; and every wrong turn."""

import re

import pytest

import regard
from regard.cli.main import main

RECIPE = """
task = "translation"
[data]
train = ["train.de", "train.en"]
test = ["test.de", "test.en"]
languages = ["de", "en"]
[text]
vocabulary = 300
max_length = 30
[model]
width = 16
depth = 1
decoder_depth = 1
feed_forward = 23
mixer = { kind = "attention", heads = 2 }
position = { kind = "learned", positions = 31 }
[training]
budget = "25 steps"
batch_tokens = 200
evaluations = 2
threads = 1
optimizer = { kind = "muon" }
"""
NOUNS = {"Hund": "dog", "Katze": "cat", "Kind": "child", "Mann": "man", "Frau": "woman"}
VERBS = {"sieht": "sees", "sucht": "seeks", "mag": "likes", "ruft": "calls"}


def pairs():
    for a, x in NOUNS.items():
        for v, w in VERBS.items():
            for b, y in NOUNS.items():
                yield f"{a} {v} {b}.", f"{x} {w} {y}."


def write(folder):
    every = list(pairs())
    for name, part in (("train", every[:90]), ("test", every[90:])):
        for side, ending in enumerate(("de", "en")):
            text = "".join(pair[side] + "\n" for pair in part)
            (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(settled):
    """Return a folder with data, a recipe and a finished run, made once."""
    return settled("a home with spaces", write)


def test_training_tells_what_scripts_rely_on(fresh, said):
    code = main(["train", str(fresh / "recipe.toml"), "--run", str(fresh / "again"), "--json"])
    result = said()
    assert code == 0
    assert result["steps"] == 25 and result["seconds"] > 0 and result["tokens_per_second"] > 0
    assert set(result["metrics"]) == {"bleu", "chrf", "baseline"}
    assert set(result["metrics"]["baseline"]) == {"bleu", "chrf"}
    assert "tok:13a" in result["signature"]["bleu"]


def test_the_run_folder_has_a_card_and_a_report_that_need_nothing_else(home):
    card = (home / "run" / "README.md").read_text()
    assert card.startswith("---\nlanguage:") and "regard predict" in card
    report = (home / "run" / "report.html").read_text()
    assert "layer 1, head 2" in report and "<svg" in report
    assert "http://" not in report.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in report and "<script" not in report


def test_a_run_answers_evaluates_and_says_so_in_json(home, said):
    assert (
        main(["predict", str(home / "run"), "Hund sieht Katze.", "Frau mag Kind.", "--json"]) == 0
    )
    answers = said()["answers"]
    assert len(answers) == 2 and set(answers[0]) == {"text", "log_probability", "truncated"}
    files = ["--data", str(home / "test.de"), str(home / "test.en")]
    assert main(["evaluate", str(home / "run"), *files, "--json"]) == 0
    given = said()
    assert given["count"] == 10
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    assert said()["metrics"] == given["metrics"]


def test_answer_n_belongs_to_line_n_and_blank_lines_stay(fresh, refused):
    (fresh / "in.txt").write_text("Hund sieht Katze.\n\nMann ruft Frau.\n")
    arguments = ["predict", str(fresh / "run"), "--input", str(fresh / "in.txt")]
    assert main([*arguments, "--output", str(fresh / "out.txt")]) == 0
    lines = (fresh / "out.txt").read_text().splitlines()
    assert len(lines) == 3 and lines[1] == ""
    refused(2, [*arguments, "--output", str(fresh / "out.txt")], "out.txt exists")


def test_translators_do_not_answer_together(home, capsys):
    run = str(home / "run")
    assert main(["predict", run, "Der Hund schläft.", "--ensemble", run]) == 2
    assert "where the answer is a label" in capsys.readouterr().err


def test_answers_do_not_depend_on_their_neighbours(home):
    model = regard.load(home / "run")
    texts = [source for source, _ in pairs()][:37]
    together = [answer.text for answer in model.predict(texts)]
    assert together == [model.predict(text)[0].text for text in texts]


def test_init_writes_a_recipe_that_check_and_train_take(fresh, capsys, said, refused):
    files = ["--data", str(fresh / "train.de"), "--data", str(fresh / "train.en")]
    assert main(["init", "translation", *files, "--output", str(fresh / "my.toml")]) == 0
    text = (fresh / "my.toml").read_text()
    assert "# Chosen: " in text and 'languages = ["de", "en"]' in text
    capsys.readouterr()
    assert main(["check", str(fresh / "my.toml"), "--json"]) == 0
    assert said()["records"]["train"] == 90
    small = [
        "--set",
        "training.budget=3 steps",
        "--set",
        "model.width=16",
        "--set",
        "training.threads=1",
    ]
    assert (
        main(["train", str(fresh / "my.toml"), "--run", str(fresh / "mine"), *small, "--json"]) == 0
    )
    capsys.readouterr()
    refused(
        2,
        ["init", "translation", *files, "--output", str(fresh / "my.toml")],
        "my.toml exists",
    )


def test_a_translation_is_explained_in_the_terminal_as_a_page_and_as_numbers(
    fresh, capsys, said, refused
):
    call = ["explain", str(fresh / "run"), "Hund sieht Katze.", "--target", "dog sees cat."]
    assert main([*call, "--json"]) == 0
    result = said()
    assert result["source"] == ["Hund", "sieht", "Katze", ".", "</s>"]
    assert (result["layers"], result["heads"]) == (1, 2)
    assert len(result["weights"][0][1]) == len(result["target"])
    pictures = ["--output", str(fresh / "map.html"), "--output", str(fresh / "map.svg")]
    assert main([*call, *pictures]) == 0
    assert "sieht" in capsys.readouterr().out
    assert re.search(r"layer 1, head [12]", (fresh / "map.html").read_text())
    assert (fresh / "map.svg").read_text().startswith("<svg")
    refused(2, [*call, *pictures], "map.html exists")


def train(fresh, *more):
    return ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "new"), *more]


def test_misaligned_files_are_refused(fresh, refused):
    text = (fresh / "train.en").read_text()
    (fresh / "train.en").write_text(text[: text.rindex("\n", 0, -1) + 1])
    refused(1, train(fresh), "train.en", "89", "90")
    assert not (fresh / "new").exists()


def test_invalid_utf8_is_refused_with_its_line(fresh, refused):
    raw = (fresh / "train.de").read_bytes().splitlines(keepends=True)
    raw[6] = b"\xff\xfeHund\n"
    (fresh / "train.de").write_bytes(b"".join(raw))
    refused(1, train(fresh), "train.de:7", "UTF-8")
    assert not (fresh / "new").exists()


def test_an_empty_file_is_refused(fresh, refused):
    for side in ("de", "en"):
        (fresh / f"train.{side}").write_text("")
    refused(1, train(fresh), "train.de", "empty")


def test_a_missing_file_is_refused(fresh, refused):
    (fresh / "train.en").unlink()
    refused(2, train(fresh), "train.en")
    assert not (fresh / "new").exists()


def test_an_unknown_key_is_refused_with_the_nearest_one(fresh, refused):
    with (fresh / "recipe.toml").open("a") as file:
        file.write("\n[decoding]\nbaem = 3\n")
    refused(2, train(fresh), "baem", "beam", "recipe.toml")


def test_heads_that_do_not_divide_the_width_are_refused(fresh, refused):
    refused(
        2,
        train(fresh, "--set", "model.mixer.heads=3"),
        "model.mixer.heads",
        "model.width",
        "18",
    )


def test_a_run_folder_that_exists_is_refused_and_untouched(fresh, refused):
    before = {f: f.read_bytes() for f in (fresh / "run").rglob("*") if f.is_file()}
    refused(
        2,
        ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "run")],
        "exists",
        "--resume",
    )
    assert before == {f: f.read_bytes() for f in (fresh / "run").rglob("*") if f.is_file()}


def test_a_tokenizer_of_another_model_is_refused(fresh, refused):
    file = fresh / "run" / "tokenizer.json"
    file.write_text(file.read_text().replace('"Hund"', '"Huhn"').replace("un", "nu"))
    refused(1, ["predict", str(fresh / "run"), "Hund."], "tokenizer.json")


def test_a_text_longer_than_the_positions_is_refused_or_cut_when_allowed(home, said, refused):
    long = " ".join(["Hund"] * 40)
    refused(2, ["predict", str(home / "run"), long], "40", "29", "--truncate")
    assert main(["predict", str(home / "run"), long, "--truncate", "--json"]) == 0
    assert said()["answers"][0]["truncated"] == 11


def test_a_folder_that_is_no_run_is_refused(home, refused):
    refused(2, ["predict", str(home / "nowhere"), "x"], "nowhere")
    refused(1, ["predict", str(home / "cache"), "x"], "regard.json")
