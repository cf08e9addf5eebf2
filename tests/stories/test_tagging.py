"""Own tagged tokens in, a tagger out: by the commands, from other runs, and every wrong turn."""

import json

import numpy as np
import pytest

from regard.cli.main import main
from regard.run import Run

RECIPE = """
task = "tagging"
[data]
train = ["train.conll"]
valid = ["valid.jsonl"]
[text]
vocabulary = 300
max_length = 32
[model]
width = 16
depth = 1
feed_forward = 23
dropout = 0.0
mixer = { kind = "attention", heads = 2 }
position = { kind = "rotary" }
[training]
budget = "80 steps"
batch_tokens = 500
evaluations = 2
label_smoothing = 0.0
threads = 1
optimizer = { kind = "adamw", rate = 0.01 }
"""
START = """
task = "tagging"
[data]
train = ["train.conll"]
valid = ["valid.jsonl"]
[model.start]
run = "%s"
[training]
budget = "9 steps"
batch_tokens = 500
evaluations = 1
checkpoints = 1
threads = 1
"""
PRETRAIN = RECIPE.replace("tagging", "masked-pretraining").replace("80 steps", "9 steps")
PRETRAIN = PRETRAIN.replace("train.conll", "plain.txt").replace("valid.jsonl", "plain.txt")
NAMES, PLACES = ("Anna", "Bo", "Charlotte", "Paris"), ("Rome", "Oslo", "Charlotte", "Paris")


def sentences(count, seed):
    """Make sentences whose names are places behind "in" and persons elsewhere."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        name, place, verb = rng.choice(NAMES), rng.choice(PLACES), rng.choice(("sang", "was"))
        words = [name, verb, str(rng.integers(97)), "times", "in", place, "."]
        yield words, [(0, 1, "PER"), (5, 6, "LOC")]


def tags_of(spans):
    tags = ["O"] * 7
    for begin, _, label in spans:
        tags[begin] = f"I-{label}"  # IOB1
    return tags


def as_marked(words, spans):
    """Write the sentence as an annotator of the running text would have marked it."""
    text = " ".join(words).replace(" .", ".")
    begins = [sum(len(word) + 1 for word in words[:n]) for n in range(len(words))]
    marked = [[begins[n], begins[n] + len(words[n]), label] for n, _, label in spans]
    return json.dumps({"text": text, "label": marked})


def write(folder):
    train = list(sentences(151, 1))
    rows = ["".join(f"{w} {t}\n" for w, t in zip(ws, tags_of(s), strict=True)) for ws, s in train]
    (folder / "train.conll").write_text("\n".join(rows))
    marked = [as_marked(*one) for one in sentences(53, 2)]
    (folder / "valid.jsonl").write_text("\n".join(marked) + "\n")
    (folder / "plain.txt").write_text("\n\n".join(" ".join(words) for words, _ in train) + "\n")
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "pretrain.toml").write_text(PRETRAIN)


@pytest.fixture(scope="module")
def home(settled):
    """Return a folder with data, a recipe and a finished run, made once."""
    return settled("tags", write)


def run_of(home):
    return str(home / "run")


def test_it_learns_what_the_most_frequent_tag_cannot(home, capsys, said):
    assert main(["evaluate", run_of(home), "--split", "valid", "--json"]) == 0
    found = said()
    scores = found["metrics"]
    assert scores["micro_f1"] > 0.97 and scores["baseline"]["micro_f1"] < 0.9
    assert found["signature"]["micro_f1"].startswith("entity-f1|mode:default|scheme:IOB2|")
    assert found["count"] == 53 and set(found["details"]["by_label"]) == {"PER", "LOC"}
    assert found["details"]["strict"]["micro_f1"] == scores["micro_f1"]
    assert main(["evaluate", run_of(home), "--split", "valid"]) == 0
    assert "micro_f1" in capsys.readouterr().out


def test_an_answer_marks_the_text_and_has_offsets(home, capsys, said):
    text = "Charlotte was 12 times in Charlotte."
    assert main(["predict", run_of(home), text]) == 0
    shown = capsys.readouterr().out.strip()
    assert shown.startswith("Charlotte[PER ") and "in Charlotte[LOC " in shown
    assert main(["predict", run_of(home), text, "--json"]) == 0
    (answer,) = said()["answers"]
    first, second = answer["entities"]
    assert (first["entity_group"], first["word"], first["start"], first["end"]) == (
        "PER",
        "Charlotte",
        0,
        9,
    )
    assert (second["entity_group"], second["start"], second["end"]) == ("LOC", 26, 35)
    assert list(first) == ["entity_group", "score", "word", "start", "end"]
    assert answer["text"] == shown and "probabilities" not in answer
    assert main(["predict", run_of(home), "12 times", "--json"]) == 0
    assert said()["answers"][0]["entities"] == []


def test_a_long_text_and_lines_of_a_file_are_answered(home, tmp_path, capsys):
    lines = tmp_path / "lines.txt"
    lines.write_text("\n" + "Bo sang 3 times in Rome. " * 20 + "\nBo sang 4 times in Oslo.\n")
    assert main(["predict", run_of(home), "--input", str(lines)]) == 0
    blank, long, short = capsys.readouterr().out.split("\n")[:3]
    assert blank == "" and long.count("Rome[LOC") == 20 and short.count("[") == 2


def test_what_a_tagged_word_attended_to_is_shown(home, tmp_path, capsys, said):
    page = tmp_path / "e.html"
    text = "Charlotte was 12 times in Charlotte."
    assert main(["explain", run_of(home), text, "--json", "--output", str(page)]) == 0
    found = said()
    assert found["task"] == "tagging" and found["stack"] == "self"
    attribution = next(
        value for value in found.values() if isinstance(value, dict) and "answers" in value
    )
    assert attribution["answers"] == ["Charlotte[PER]", "Charlotte[LOC]"]
    assert found["faithfulness"]["words"] == 1 and "Charlotte[LOC]" in page.read_text()
    assert main(["explain", run_of(home), text, "--label", "LOC"]) == 0
    assert "Charlotte[LOC]" in capsys.readouterr().out


def test_the_run_describes_itself(home, capsys):
    card = (home / "run" / "README.md").read_text()
    assert "pipeline_tag: token-classification" in card and "most frequent tag" in card
    report = (home / "run" / "report.html").read_text()
    assert "True tags" in report and "[LOC]" in report
    assert main(["account", "of", str(home / "recipe.toml")]) == 0
    assert main(["compare", run_of(home)]) == 0


def test_init_suggests_a_recipe_that_trains(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    recipe = tmp_path / "suggested.toml"
    assert (
        main(["init", "tagging", "--data", str(home / "train.conll"), "--output", str(recipe)]) == 0
    )
    assert "text.dropout" in capsys.readouterr().out
    assert main(["check", str(recipe)]) == 0
    call = ["train", str(recipe), "--run", str(tmp_path / "run")]
    sets = (
        "training.budget=2 steps",
        "model.width=16",
        "model.feed_forward=16",
        "training.threads=1",
    )
    assert main([*call, *(word for each in sets for word in ("--set", each))]) == 0


def test_check_says_the_scheme_and_names_every_span_that_does_not_fit(fresh, said):
    spans = [[0, 3, "PER"], [26, 35, "LOC"]]
    broken = [json.dumps({"text": "Charlotte was 12 times in Charlotte.", "label": spans})] * 30
    (fresh / "valid.jsonl").write_text("\n".join(broken) + "\n")
    assert main(["check", str(fresh / "recipe.toml"), "--json"]) == 1
    found = said()
    assert [one["line"] for one in found["findings"] if one["kind"] == "span"] == list(range(1, 31))
    first = next(one for one in found["findings"] if one["kind"] == "span")
    assert first["file"].endswith("valid.jsonl") and "'Cha'" in first["problem"]
    schemes = [one["problem"] for one in found["findings"] if one["kind"] == "scheme"]
    assert schemes == ["The tags are IOB1."]
    assert found["labels"]["train"].keys() == {"PER", "LOC"}


def test_training_stops_at_a_span_that_does_not_fit(fresh, refused):
    with (fresh / "valid.jsonl").open("a") as file:
        file.write(json.dumps({"text": "Anna", "label": [[0, 3, "PER"]]}) + "\n")
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "new")]
    refused(1, call, "valid.jsonl:54", "'Ann'", "on_bad_line")


def test_a_tag_that_training_has_not_seen_is_refused_by_its_place(fresh, refused):
    with (fresh / "valid.jsonl").open("a") as file:
        file.write(json.dumps({"text": "Anna", "label": [[0, 4, "ORG"]]}) + "\n")
    call = ["train", str(fresh / "recipe.toml"), "--run", str(fresh / "new")]
    refused(1, call, "valid.jsonl:54", "'B-ORG'", "data.train")


def test_a_body_pretrained_on_masked_words_is_carried_over(fresh, capsys):
    call = ["train", str(fresh / "pretrain.toml"), "--run", str(fresh / "masked")]
    assert main(call) == 0
    (fresh / "start.toml").write_text(START % "masked")
    assert main(["train", str(fresh / "start.toml"), "--run", str(fresh / "started")]) == 0
    began = Run(fresh / "started").metrics["training"]["began"]
    assert began["carried"] and all(name not in began["carried"] for name in began["new"])
    assert sum(began["new"].values()) == 5 * 16 + 5


def test_an_imported_bert_is_carried_over(fresh, capsys):
    transformers = pytest.importorskip("transformers")
    import torch

    transformers.logging.set_verbosity_error()
    words = (
        "[PAD] [UNK] [CLS] [SEP] [MASK] anna bo char ##lotte par ##is rome oslo sang was times in ."
    )
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(words.split()),
        hidden_size=14,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=19,
        max_position_embeddings=32,
    )
    folder = fresh / "hf"
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    vocabulary = {token: number for number, token in enumerate(words.split())}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    assert main(["import", str(folder), str(fresh / "imported")]) == 0
    (fresh / "start.toml").write_text(START % "imported")
    call = ["train", str(fresh / "start.toml"), "--run", str(fresh / "started")]
    assert (
        main([*call, "--set", "training.budget=60 steps", "--set", "training.optimizer.rate=0.01"])
        == 0
    )
    capsys.readouterr()
    run = Run(fresh / "started")
    # Digits are unknown words to it, and still have their tags.
    assert run.metrics["valid"]["metrics"]["micro_f1"] > 0.9
    assert sum(run.metrics["training"]["began"]["new"].values()) == 5 * 14 + 5
    assert main(["predict", str(fresh / "started"), "Paris was 12 times in Paris."]) == 0
    assert "Paris[PER" in (shown := capsys.readouterr().out) and "Paris[LOC" in shown
