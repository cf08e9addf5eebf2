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


def write(path, rows, *, delimiter=",", encoding="utf-8", end="\r\n", quoting=csv.QUOTE_MINIMAL):
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
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


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a finished run that was trained on the columns of tickets."""
    folder = tmp_path_factory.mktemp("tickets")
    write(folder / "tickets.csv", [HEADER, *tickets()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        assert main(begin(folder)) == 0
        call = ["train", str(folder / "recipe.toml"), "--run", str(folder / "run"), *SMALL]
        assert main([*call, "--json"]) == 0
    return folder / "run"


def predict(run, source, output, *more):
    return ["predict", str(run), "--input", str(source), "--output", str(output), *more]


ROWS = [
    ["7", "17.3.2024", "my invoice, it is wrong", "Müller"],
    ["8", "", "  ", "–"],
    ["9", "18.3.2024", 'he said "hello"\nI cannot sign in', ""],
]


@pytest.mark.parametrize(
    "dialect",
    [
        {"end": "\n"},
        {"delimiter": ";", "encoding": "cp1252"},
        {"delimiter": "\t", "encoding": "utf-16", "end": "\n"},
        {"delimiter": ";", "encoding": "utf-8-sig", "quoting": csv.QUOTE_ALL},
    ],
)
def test_a_table_is_answered_in_its_own_dialect(trained, tmp_path, dialect):
    delimiter, encoding = dialect.get("delimiter", ","), dialect.get("encoding", "utf-8")
    names = [HEADER[0], 'Created "at"', *HEADER[2:]]
    source = write(tmp_path / "new.csv", [names, *ROWS], **dialect)
    assert main(predict(trained, source, tmp_path / "out.csv")) == 0
    with (tmp_path / "out.csv").open(encoding=encoding, newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    assert header == [*names, "answer", "probability"]
    assert [row[:4] for row in rows] == ROWS
    assert [row[4] in NEWS for row in rows] == [True, False, True] and rows[1][4:] == ["", ""]
    assert 0 < float(rows[0][5]) <= 1
    again = write(tmp_path / "same.csv", [header, *rows], **dialect)
    assert again.read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_objects_keep_their_fields_and_other_names_are_found(trained, tmp_path, capsys):
    source = tmp_path / "new.jsonl"
    rows = [{"id": 1, "text": "my parcel", "answer": [7]}, {"id": 2, "text": "", "answer": None}]
    source.write_text("".join(json.dumps(row) + "\n\n" for row in rows))
    assert main(predict(trained, source, tmp_path / "out.jsonl")) == 0
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert found[0]["answer_2"] in NEWS and found[1]["answer_2"] == ""
    capsys.readouterr()
    assert main(["predict", str(trained), "--input", str(source), "--fields", "text"]) == 0
    first, blank = capsys.readouterr().out.splitlines()
    assert first.split("\t")[0] == found[0]["answer_2"] and blank == ""


def test_wrong_tables_are_refused_and_leave_nothing(trained, tmp_path, refused):
    source = write(tmp_path / "new.csv", [HEADER, *ROWS, ["10", "one too few", "x"]])
    refused(1, predict(trained, source, tmp_path / "out.csv"), "new.csv:6", "3 columns")
    refused(2, predict(trained, source, tmp_path / "out.tsv"), "keeps its format")
    more = ("--fields", "Text")
    refused(1, predict(trained, source, tmp_path / "out.csv", *more), "'Text'", "'Message body'")
    refused(2, ["predict", str(trained), "a text", *more], "there is none")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
    source.write_bytes(b"")
    refused(1, predict(trained, source, tmp_path / "out.csv"), "empty")
    refused(2, predict(trained, tmp_path / "no.csv", tmp_path / "out.csv"), "no such file")


def test_other_files_are_measured_in_their_own_encoding_without_bad_lines(
    trained, tmp_path, capsys, refused
):
    rows = [[*row[:2], f"{row[2]} – übrigens", row[3]] for row in tickets(20)]
    rows[4][3] = ""
    source = write(tmp_path / "new.csv", [HEADER, *rows], encoding="cp1252")
    call = ["evaluate", str(trained), "--data", str(source)]
    refused(1, call, "new.csv:6", "The label is empty", "--skip-bad-lines")
    capsys.readouterr()
    assert main([*call, "--skip-bad-lines"]) == 0
    shown = capsys.readouterr()
    assert "19; 1 bad line skipped" in shown.out and "new.csv is read as cp1252" in shown.err


def test_lines_are_answered_in_their_own_encoding(trained, tmp_path, capsys, refused):
    lines = tmp_path / "new.txt"
    lines.write_text("my invoice – schön\nthe parcel\n", encoding="cp1252")
    assert main(["predict", str(trained), "--input", str(lines)]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2 and "new.txt is read as cp1252" in shown.err
    lines.write_bytes("schön\nübrigens\n".encode() + b"\xfc\n")
    call = ["predict", str(trained), "--input", str(lines)]
    refused(2, call, "new.txt:3", "byte 0xFC", "Convert the file to UTF-8.")
    lines.write_bytes(b"one\0two\n")
    refused(2, call, "new.txt:1", "NUL", "Correct the line.")


def test_documents_are_named_by_a_column(tmp_path, refused, said):
    source = write(tmp_path / "new.csv", [HEADER, *tickets(30)], encoding="utf-16")
    call = ["index", str(source), "--words-only", "--output", str(tmp_path / "index")]
    named = [*call, "--fields", "Ticket ID,Message body"]
    assert main([*named, "--json"]) == 0 and said()["documents"] == 30
    assert main(["search", str(tmp_path / "index"), "parcel", "--json"]) == 0
    assert {found["id"] for found in said()["results"]} < {str(4711 + n) for n in range(30)}
    other = [*call[:-1], str(tmp_path / "other")]
    twice = ("--fields", "Category,Message body")
    refused(1, [*other, *twice], "already defined in line", "--skip-bad-lines")
    assert main([*other, *twice, "--skip-bad-lines", "--json"]) == 0
    assert said()["documents"] == 3
    more = [*call[:-1], str(tmp_path / "more"), "--fields"]
    refused(1, [*more, "Number,Message body"], "'Number', which names the document")
    refused(2, [*more, "a,b,c"], "3 columns: a, b, c")


def test_the_column_of_documents_is_named_or_refused(tmp_path, refused, said):
    rows = [[*row[:3], f"Re: {row[2]}"] for row in tickets()]
    source = write(tmp_path / "notes.csv", [[*HEADER[:2], "Asked", "Told"], *rows])
    call = ["index", str(source), "--words-only", "--output", str(tmp_path / "index")]
    refused(1, call, "'Asked' and 'Told'", "--fields")
    assert not (tmp_path / "index").exists()
    assert main([*call, "--fields", "Told", "--json"]) == 0
    assert said()["documents"] == 120
    assert main(["search", str(tmp_path / "index"), "re parcel", "--json"]) == 0
    assert "Re: Hello" in json.dumps(said())


def test_scores_with_decimal_commas_are_numbers(office, capsys):
    rng = random.Random(5)
    texts = [body for *_, body, _ in tickets()]
    rows = [[body, rng.choice(texts), f"{rng.randrange(40, 500)}".zfill(3)] for body in texts]
    rows = [[one, two, f"{score[0]},{score[1:]}"] for one, two, score in rows]
    data = write(office / "pairs.csv", [["Satz 1", "Satz 2", "Score"], *rows], delimiter=";")
    out = str(office / "pairs.toml")
    assert main(["init", "sentence-pair", "--data", str(data), "--output", out]) == 0
    shown = capsys.readouterr().out
    assert "second text = 'Satz 2', label = 'Score'" in shown
    assert "120 × decimal-comma: pairs.csv:2, 3, 4, and 117 more" in shown
    assert "scores = true" in (office / "pairs.toml").read_text()
    assert main(["train", out, "--run", str(office / "run"), *SMALL[:-2]]) == 0
