"""Summaries as a user lives them: documents in, a summarizer out; and every wrong turn."""

import json

import pytest

from regard.cli.main import main

RECIPE = """
task = "summarization"
[data]
train = ["train.jsonl"]
test = ["test.jsonl"]
[text]
vocabulary = 400
max_length = 40
overlong = "head"
[model]
width = 16
depth = 1
decoder_depth = 1
feed_forward = 23
copying = true
mixer = { kind = "attention", heads = 2 }
[training]
budget = "25 steps"
batch_tokens = 300
evaluations = 2
threads = 1
coverage = 0.5
[decoding]
beam = 2
max_length = 9
no_repeat = 3
coverage = 0.3
"""
PEOPLE = ["Anna", "Bert", "Cleo", "Dora", "Emil", "Fred", "Gabi"]
THINGS = ["tea", "bread", "milk", "fish", "corn"]
MARKETS = ["Bonn", "Kiel", "Ulm"]


def documents():
    for person in PEOPLE:
        for thing in THINGS:
            for market in MARKETS:
                yield (
                    (
                        f"It was early in {market}. The market was full, and everybody knew {person}. "
                        f"{person} sold\n\n{thing} until noon. Then all went home."
                    ),
                    f"{person} sells {thing} in {market}",
                )


def write(folder):
    every = [json.dumps({"document": d, "summary": s}) + "\n" for d, s in documents()]
    (folder / "train.jsonl").write_text("".join(every[:90]))
    (folder / "test.jsonl").write_text("".join(every[90:]))
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(settled):
    """Return a folder with data, a recipe and a finished run, made once."""
    return settled("summaries", write)


def train(folder, *more):
    return ["train", str(folder / "recipe.toml"), "--run", str(folder / "new"), *more]


def put(folder, number, record):
    """Write another record in the place of one of the training examples."""
    lines = (folder / "train.jsonl").read_text().splitlines()
    lines[number - 1] = json.dumps(record)
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n")


def test_a_run_is_compared_with_the_lead_baseline(home, said):
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    result = said()
    assert set(result["metrics"]) == {"rouge1", "rouge2", "rougel", "baseline"}
    assert set(result["metrics"]["baseline"]) == {"rouge1", "rouge2", "rougel"}
    assert result["count"] == 15 and result["signature"]["rouge1"].startswith("f1|")
    assert set(result["details"]["answers"]) == {
        "words",
        "copied",
        "novel_bigrams",
        "novel_trigrams",
    }
    assert result["details"]["references"]["words"] == 5
    assert result["details"]["lead_words"]["words"] == 5
    recipe = (home / "run" / "recipe.toml").read_text()
    assert "lead = 1" in recipe  # sentences of 5, 8, 6 and 4 words; summaries of 5


def test_the_card_and_the_report_name_the_lead(home):
    card = (home / "run" / "README.md").read_text()
    assert "pipeline_tag: summarization" in card and "lead-1" in card
    page = (home / "run" / "report.html").read_text()
    assert "lead-1" in page and "Summary" in page


def test_answers_are_short_and_documents_are_cut_as_in_training(home, said):
    long = " ".join(["It was early in Bonn."] * 20)
    assert main(["predict", str(home / "run"), long, "Anna sold tea.", " ", "--json"]) == 0
    answers = said()["answers"]
    assert answers[0]["truncated"] > 0 and answers[1]["truncated"] == 0
    assert answers[2]["text"] == ""


def test_init_writes_a_recipe_that_check_and_train_take(fresh, capsys, said):
    call = ["init", "summarization", "--data", str(fresh / "train.jsonl")]
    assert main([*call, "--output", str(fresh / "my.toml")]) == 0
    text = (fresh / "my.toml").read_text()
    assert "copying = true" in text and "# Chosen: " in text
    capsys.readouterr()
    assert main(["check", str(fresh / "my.toml"), "--json"]) == 0
    assert said()["records"]["train"] == 90
    small = ["training.budget=3 steps", "model.width=16", "training.threads=1"]
    sets = [word for each in small for word in ("--set", each)]
    call = ["train", str(fresh / "my.toml"), "--run", str(fresh / "mine"), *sets, "--json"]
    assert main(call) == 0
    assert "rougel" in said()["metrics"]


def test_a_summary_is_explained(home, said):
    assert main(["explain", str(home / "run"), "Anna sold tea.", "--json"]) == 0
    result = said()
    assert "Anna" in result["source"]


@pytest.mark.parametrize("side", ["document", "summary"])
def test_an_empty_side_is_refused_with_its_line(fresh, side, refused):
    put(fresh, 7, {"document": "Some text.", "summary": "Some", side: "  "})
    refused(1, train(fresh), "train.jsonl:7", "empty")
    assert not (fresh / "new").exists()


def test_a_missing_field_is_refused_with_its_line(fresh, refused):
    put(fresh, 5, {"document": "Some text."})
    refused(1, train(fresh), "train.jsonl:5", "summary")


def test_fields_of_other_names_are_named_in_the_recipe(fresh, refused):
    text = (fresh / "train.jsonl").read_text()
    (fresh / "train.jsonl").write_text(text.replace('"summary"', '"tldr"'))
    refused(1, train(fresh), "data.fields")
    given = ["--set", 'data.fields=["document", "tldr"]', "--set", "data.test=[]"]
    assert main(train(fresh, *given, "--set", "training.budget=2 steps", "--json")) == 0


def test_a_summary_may_be_longer_than_its_document(fresh, said):
    put(fresh, 3, {"document": "Tea.", "summary": "Anna sells tea in Bonn until noon"})
    assert main(train(fresh, "--set", "training.budget=2 steps", "--json")) == 0
    assert said()["metrics"]["baseline"]["rouge1"] > 0


def test_parallel_files_and_tables_are_read_too(fresh, said):
    every = [(" ".join(d.split()), s) for d, s in documents()]
    for side, ending in enumerate(("text", "short")):
        (fresh / f"all.{ending}").write_text("".join(pair[side] + "\n" for pair in every))
    (fresh / "all.tsv").write_text("".join(f"{d}\t{s}\n" for d, s in every))
    for name, files in (("parallel", ["all.text", "all.short"]), ("table", ["all.tsv"])):
        named = json.dumps([str(fresh / file) for file in files])
        call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / name), "--json"]
        sets = [f"data.train={named}", "data.test=[]", "training.budget=1 steps"]
        assert main([*call, *(word for each in sets for word in ("--set", each))]) == 0
        assert said()["count"] > 0
        kept = json.loads((fresh / name / "metrics.json").read_text())["training"]["examples"]
        assert 90 < kept < 105


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["model.copying=false"], ("training.coverage", "model.copying")),
        (["model.copying=false", "training.coverage=0"], ("decoding.coverage", "copying")),
        (["text.overlong=windows"], ("text.overlong", "summarization")),
        (["model.start.lexicon=true"], ("lexicon", "summarization")),
        (["decoding.method=greedy"], ("decoding.beam", "no effect", "greedy")),
        (["decoding.min_length=10"], ("decoding.min_length", "9")),
        (["training.consistency=1.0"], ("training.consistency", "copying")),
        (["denoising.share=0.5"], ("denoising", "summarization")),
        (["task=language-modelling"], ("model.decoder_depth", "language-modelling")),
    ],
)
def test_settings_that_do_not_go_together_are_refused(fresh, sets, words, refused):
    given = [word for each in sets for word in ("--set", each)]
    refused(2, train(fresh, *given), *words)


def test_documents_are_learned_from_first_and_carried_on(fresh, capsys, said, refused):
    """Denoising on the documents alone, then summaries from there: encoder, decoder, pointer."""
    plain = "".join(" ".join(d.split()) + "\n\n" for d, _ in documents())
    (fresh / "plain.txt").write_text(plain)
    recipe = RECIPE.replace('"summarization"', '"denoising"').replace("coverage", "# coverage")
    recipe = recipe.replace('train = ["train.jsonl"]', 'train = ["plain.txt"]')
    recipe = recipe.replace('test = ["test.jsonl"]', "").replace(
        "max_length = 9", "max_length = 40"
    )
    for gaps in ("spans", "sentences"):
        file = fresh / f"{gaps}.toml"
        file.write_text(f'{recipe}\n[denoising]\ngaps = "{gaps}"\n')
        assert main(["train", str(file), "--run", str(fresh / gaps), "--json"]) == 0
        result = said()["metrics"]
        assert result["loss"] > 0 and result["baseline"]["loss"] > 0
        asked = ["predict", str(fresh / gaps), "It was early in [MASK]. Then all went home."]
        assert main(asked) == 0
        assert capsys.readouterr().out.strip()
        refused(2, ["predict", str(fresh / gaps), "Nothing is missing."], "[MASK]")
    start = f"model.start.run={fresh / 'spans'}"
    assert main(train(fresh, "--set", start, "--json")) == 0
    capsys.readouterr()
    metrics = json.loads((fresh / "new" / "metrics.json").read_text())
    carried = metrics["training"]["began"]["carried"]
    assert {"reading", "encoder", "decoder", "decoder (cross-attention)", "copying"} == set(carried)
    assert not metrics["training"]["began"]["new"]
