"""A table as an office exports it in; columns found, faults named, a model that trains at once."""

import csv
import json
import random

import pytest

from regard.cli.main import main

NEWS = {
    "Billing": ["my invoice is wrong", "I was charged twice", "please refund the payment"],
    "Login": ["the password does not work", "I cannot sign in", "my account is locked"],
    "Delivery": ["the parcel is late", "my order never arrived", "the box was damaged"],
}
HEADER = ["Ticket ID", "Created", "Message body", "Category"]
SMALL = (
    *("--set", "training.budget=8 steps"),
    *("--set", "training.threads=1"),
    *("--set", "model.width=16"),
    *("--set", "model.feed_forward=23"),
    *("--set", "model.embedding.ngram_rows=97"),
)


def tickets(count=120):
    rng = random.Random(3)
    for number in range(count):
        label = rng.choice(list(NEWS))
        body = f"Hello, {rng.choice(NEWS[label])}, for {number} days"
        yield [str(4711 + number), f"2024-0{number % 9 + 1}-17 09:{number % 50 + 10}", body, label]


def write(path, rows, *, delimiter=",", encoding="utf-8", end="\r\n"):
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(rows)
    return path


@pytest.fixture
def office(tmp_path, monkeypatch):
    """Return a folder with a table that has an empty text, a missing label, and repeated rows."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    rows = list(tickets())
    rows[40][2] = ""
    rows[70][3] = ""
    rows[60][2:] = rows[59][2:]
    rows[80][2] = rows[79][2]
    rows[80][3] = "Login" if rows[79][3] != "Login" else "Billing"
    write(tmp_path / "tickets.csv", [HEADER, *rows[:50], [], *rows[50:]])
    return tmp_path


def begin(folder, *more):
    out = str(folder / "recipe.toml")
    return ["init", "classification", "--data", str(folder / "tickets.csv"), "--output", out, *more]


def test_a_table_is_described_checked_and_trained_at_once(office, capsys, said):
    assert main(begin(office)) == 0
    shown = capsys.readouterr().out
    assert "text = 'Message body', label = 'Category'; change with --fields" in shown
    for found in ("1 × empty-field: tickets.csv:42", "1 × empty-label: tickets.csv:73"):
        assert found in shown
    assert "1 × conflict: tickets.csv:83" in shown and "1 × duplicate: tickets.csv:63" in shown
    assert "1 × blank: tickets.csv:52" in shown
    recipe = office / "recipe.toml"
    assert 'fields = ["Message body", "Category"]' in recipe.read_text()
    assert 'on_bad_line = "skip"' in recipe.read_text()
    run = office / "run"
    assert main(["train", str(recipe), "--run", str(run), *SMALL]) == 0
    log = capsys.readouterr()
    assert "2 bad lines of train skipped (1 empty-field, 1 empty-label)" in log.out + log.err
    training = json.loads((run / "metrics.json").read_text())["training"]
    assert training["skipped"] == {"train": {"empty-field": 1, "empty-label": 1}}
    assert "2 bad lines skipped" in (run / "README.md").read_text()
    assert "bad lines skipped" in (run / "report.html").read_text()
    start = json.loads((run / "journal.jsonl").read_text().splitlines()[0])
    assert start["skipped"] == training["skipped"]
    assert 'labels = ["Billing", "Delivery", "Login"]' in (run / "recipe.toml").read_text()


def test_bad_lines_stop_a_check_unless_they_are_skipped(office, capsys):
    assert main(begin(office)) == 0
    capsys.readouterr()
    recipe = str(office / "recipe.toml")
    assert main(["check", recipe]) == 0
    shown = capsys.readouterr().out
    assert "2 bad lines are skipped" in shown and "or set data.on_bad_line" not in shown
    assert main(["check", recipe, "--set", "data.on_bad_line=stop"]) == 1
    shown = capsys.readouterr().out
    assert "or set data.on_bad_line" in shown and "training would stop" in shown
    assert max(map(len, shown.splitlines())) <= 80
    order = [line.split()[0] for line in shown.splitlines() if " × " in line]
    assert order == ["bad", "bad", "warning", "note", "note"]


def test_columns_that_are_not_clear_are_refused_with_all_of_them(office, refused):
    rows = [[*row, row[2][::-1], row[3]] for row in tickets()]
    write(office / "tickets.csv", [[*HEADER, "Reply text", "Label"], *rows])
    words = ("'Message body' and 'Reply text'", "'Created' (date)", "'Ticket ID' (id)", "--fields")
    refused(1, begin(office), *words)
    assert main(begin(office, "--fields", "Reply text,Label")) == 0
    assert 'fields = ["Reply text", "Label"]' in (office / "recipe.toml").read_text()


def test_a_missing_column_is_named_with_those_that_are_there(office, refused):
    refused(1, begin(office, "--fields", "Body,Klasse"), "'Body'", "'Klasse'", "'Message body'")


def test_windows_text_with_semicolons_is_recognised(office, capsys):
    rows = [[*row[:2], f"{row[2]} – schön, übrigens", row[3]] for row in tickets()]
    write(office / "tickets.csv", [HEADER, *rows], delimiter=";", encoding="cp1252")
    assert main(begin(office)) == 0
    assert 'encoding = "cp1252"' in (office / "recipe.toml").read_text()
    capsys.readouterr()
    recipe = str(office / "recipe.toml")
    assert main(["check", recipe]) == 0
    assert "examples: train 120; the data can be read" in capsys.readouterr().out
    assert main(["check", recipe, "--set", "data.encoding=utf-8"]) == 1
    shown = capsys.readouterr().out
    assert 'set data.encoding = "cp1252"' in shown and "schön" in shown


def test_a_recipe_without_its_files_says_which_and_how_to_name_others(office, refused, monkeypatch):
    monkeypatch.chdir(office)
    for verb in ("check", "train"):
        refused(2, [verb, "multi30k"], "train.de.gz", "val.en.gz", "data.test", "--set 'data.train")


def test_training_proposes_columns_and_takes_none_in_silence(office, refused):
    recipe = office / "mine.toml"
    recipe.write_text('task = "classification"\n[data]\ntrain = ["tickets.csv"]\n')
    call = ["train", str(recipe), "--run", str(office / "run")]
    refused(1, call, "tickets.csv:1", 'data.fields = ["Message body", "Category"]')
