"""Whatever dialect and encoding a table is written in, it is read back; its columns are found."""

import csv
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data.check import check
from regard.data.encoding import detect_encoding, find_encoding
from regard.data.formats.dialect import detect_delimiter
from regard.data.record import Request
from regard.data.source import RecordReader, find_columns, find_format, read, scan
from regard.errors import DataError, UsageError

TEXT_AND_LABEL = Request(2, roles=("text", "label"))
PAIR = Request(3, roles=("first text", "second text", "label"))
TWO_TEXTS = Request(2, roles=("source", "target"))
often = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

latin = st.characters(codec="cp1252", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff")
cell = st.text(st.one_of(latin, st.sampled_from(',;\t|"\n ')), min_size=1).filter(str.strip)
tables = st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=7)


@often
@given(
    rows=tables,
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_table_in_any_dialect_comes_back(tmp_path, rows, delimiter, encoding, end, quoting):
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
        writer.writerows([("first", "second", "third"), *rows])
    encoding = encoding.removesuffix("-sig")
    request = Request(2, ("third", "first"), encoding=encoding)
    assert [found.fields for found in scan([path], request)] == [row[::-2] for row in rows]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ('a\t"b\n"c" he said\td\n', ["a", '"b']),
        ('a\t"b"\n"c"\td\n', ["a", "b"]),
        ('a\t"b\n\nc"\nd\te\n', ["a", "b\n\nc"]),
    ],
)
def test_quotes_between_tabs_enclose_cells_only_if_all_do(tmp_path, text, cells):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert list(next(scan([path], Request(2))).fields) == cells


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_the_encoding_of_words_with_accents_is_detected(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("Größe,schön\nübel,naïve – ja\n".encode(encoding))
    wanted = encoding.removesuffix("-sig").removesuffix("-le")
    assert detect_encoding(path) == wanted
    found = scan([path], Request(2, encoding=wanted))
    assert [record.fields for record in found][1] == ("übel", "naïve – ja")


def test_one_wrong_byte_does_not_change_the_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("schön,a\nübel,b\n".encode() + b"f\xfcr,c\n" + b"d,e\n")
    assert detect_encoding(path) == "utf-8"
    path.write_bytes(b"caf\x81,a\n")
    assert detect_encoding(path) == "latin-1"


def test_a_byte_that_the_encoding_has_not_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"gut,a\nsch\xf6n\x81,b\nja,c\n")
    found = read([path], expected=2, on_bad_line="skip")
    assert len(list(found)) == 2 and found.skipped == 1
    bad = next(one for one in scan([path], Request(2, encoding="cp1252")) if len(one) == 6)
    assert bad.line == 2 and "CP1252; byte 0x81" in bad.problem
    (tmp_path / "b.csv").write_bytes("a,b\n".encode("utf-16")[:-1])
    assert (
        "not UTF-16" in list(scan([tmp_path / "b.csv"], Request(2, encoding="utf-16")))[-1].problem
    )


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("text;score\nHaus, Hof und Garten;0,5\nBaum;1,5\n", ";"),
        ("Haus;0,5\nBaum;1,5\n", ";"),
        ("a,b\nc;d,e\n", ","),
        ("a|b\nc, d|e\n", "|"),
        ("a\tb\nc, d\te\n", "\t"),
        ("sep=|\na,b|c\n", "|"),
        ('"a; b; c",d\n"e;f;g",h\n', ","),
        ("alone\nwords\n", ","),
    ],
)
def test_a_delimiter_is_what_cuts_rows_into_equally_many_cells(tmp_path, text, delimiter):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert detect_delimiter(path, Request(2)) == delimiter


def fill(count, seed=0):
    """Return rows of an identifier, a date, a number, a long text, a short one, and two labels."""
    rng = random.Random(seed)
    words = [
        "the",
        "parcel",
        "came",
        "late",
        "and",
        "nobody",
        "could",
        "say",
        "why",
        "it",
        "was",
        "so",
        "heavy",
    ]
    for number in range(count):
        text = " ".join(rng.choices(words, k=rng.randrange(6, 17)))
        yield [
            f"T-{number + 7:05}",
            f"2024-03-{number % 28 + 1:02}",
            f"{rng.random() * 90:.2f}".replace(".", ","),
            text,
            " ".join(text.split()[:2]),
            rng.choice(["Billing", "Login", "Other"]),
            rng.choice(["yes", "no"]),
        ]


def table(path, names, columns, count=60):
    rows = [[row[at] for at in columns] for row in fill(count)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows] if names else rows)
    return str(path)


def choose(file, request):
    found = find_columns(file, request, find_format([file], request))
    return found.fields, found.header


@pytest.mark.parametrize(
    ("names", "columns", "fields"),
    [
        (["Ticket", "When", "Costs", "Was ist los", "Kurz", "Was"], [0, 1, 2, 3, 4, 5], (3, 5)),
        (["Was", "Was ist los"], [5, 3], (1, 0)),
        (["x", "y", "message", "z", "category", "done"], [0, 1, 3, 4, 5, 6], (2, 4)),
        (["", "Text", "LABEL"], [0, 3, 5], (1, 2)),
        (["0", "1"], [3, 5], (0, 1)),
    ],
)
def test_text_and_label_are_found_by_what_they_hold(tmp_path, names, columns, fields):
    file = table(tmp_path / "a.csv", names, columns)
    assert choose(file, TEXT_AND_LABEL) == (tuple(names[at] for at in fields), True)


@pytest.mark.parametrize(
    ("columns", "fields"), [([3, 5], "01"), ([5, 3], "10"), ([0, 1, 3, 5], "23"), ([3, 5, 4], "01")]
)
def test_a_table_without_header_has_numbers(tmp_path, columns, fields):
    file = table(tmp_path / "a.csv", None, columns)
    assert choose(file, TEXT_AND_LABEL) == (tuple(fields), False)
    in_order = Request(2, tuple(fields), roles=TEXT_AND_LABEL.roles)
    assert sum(1 for _ in scan([file], in_order)) == 60


@pytest.mark.parametrize(
    ("names", "columns", "words"),
    [
        (["a", "b", "c"], [3, 5, 6], ["'b' and 'c' both look like labels", "'a' (text)"]),
        (["a", "b", "c"], [3, 3, 5], ["'a' and 'b' both look like texts", "'c' (label)"]),
        (["question", "b", "c"], [4, 3, 5], ["'question' and 'b' both look like texts"]),
        (["a", "b", "c"], [0, 1, 5], ["no column holds texts", "'a' (id)", "'b' (date)"]),
        (["a", "b", "c"], [0, 2, 3], ["no column holds labels", "'b' (number)"]),
    ],
)
def test_columns_that_are_not_clear_are_listed_and_not_guessed(tmp_path, names, columns, words):
    file = table(tmp_path / "a.csv", names, columns)
    with pytest.raises(DataError) as refusal:
        choose(file, TEXT_AND_LABEL)
    assert (
        all(word in refusal.value.problem for word in words) and "--fields" in refusal.value.remedy
    )


@pytest.mark.parametrize(
    ("encoding", "expected", "found"),
    [
        ("utf-8", "cp1252", "utf-8"),
        ("cp1252", "utf-8", "cp1252"),
        ("latin-1", "latin-1", "latin-1"),
        ("utf-16", "utf-8", "utf-16"),
        ("cp1252", "utf-16", "cp1252"),
    ],
)
def test_a_file_that_is_named_by_hand_has_its_own_encoding(tmp_path, encoding, expected, found):
    (tmp_path / "a.csv").write_text("Größe,für\n" * 7, encoding=encoding)
    assert find_encoding(tmp_path / "a.csv", expected) == found


def test_a_label_that_occurs_once_does_not_make_an_example_of_the_header(tmp_path):
    rows = [[row[3], row[5]] for row in fill(60)]
    rows[7][1] = "Unique"
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["Nachricht", "Art"], *rows])
    assert choose(str(tmp_path / "a.csv"), TEXT_AND_LABEL) == (("Nachricht", "Art"), True)
    with (tmp_path / "b.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert choose(str(tmp_path / "b.csv"), TEXT_AND_LABEL) == (("0", "1"), False)


def test_what_is_no_file_of_text_has_the_encoding_that_is_expected(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"\0" * 64)
    for name in ("a.parquet", ".", "nowhere.csv"):
        assert find_encoding(tmp_path / name, "latin-1") == "latin-1"


def test_texts_of_a_pair_are_in_the_order_of_the_file(tmp_path):
    file = table(tmp_path / "a.csv", ["id", "one", "two", "class"], [0, 4, 3, 5])
    assert choose(file, PAIR) == (("one", "two", "class"), True)
    assert choose(file, TWO_TEXTS) == (("one", "two"), True)
    summary = Request(2, roles=("document", "summary"))
    assert choose(file, summary) == (("two", "one"), True)


def test_a_column_that_is_always_the_same_is_no_label(tmp_path):
    rows = [["message", "tongue", "kind"], *([row[3], "de", row[5]] for row in fill(60))]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert choose(str(tmp_path / "a.csv"), TEXT_AND_LABEL) == (("message", "kind"), True)


def test_pairs_of_short_texts_have_no_header(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("Hi.\tHallo!\tCC-BY\nRun!\tLauf!\tCC-BY\nWho?\tWer?\tCC-BY\n")
    assert choose(str(path), TWO_TEXTS) == (("0", "1"), False)
    assert next(scan([path], TWO_TEXTS)).fields == ("Hi.", "Hallo!")


def test_objects_and_parquet_have_the_columns_of_a_table(tmp_path):
    from pyarrow import Table, parquet

    rows = [{"nr": row[0], "what": {"said": row[3]}, "kind": row[5]} for row in fill(60)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        file = str(tmp_path / name)
        assert choose(file, TEXT_AND_LABEL) == (("what.said", "kind"), True)
        named = Request(2, ("what.said", "kind"))
        found = [record.fields for record in scan([file], named)]
        assert found == [(row["what"]["said"], row["kind"]) for row in rows]
        with pytest.raises(DataError, match="not usual ones"):
            list(RecordReader(scan([file], TEXT_AND_LABEL), skip=False))


def test_damaged_parquet_and_spreadsheets_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="not Parquet"):
        list(read([tmp_path / "a.parquet"], fields=("a",)))
    with pytest.raises(UsageError, match="no such file"):
        list(read([tmp_path / "b.parquet"], fields=("a",)))
    with pytest.raises(UsageError) as refusal:
        list(read([tmp_path / "a.xlsx"], expected=2))
    assert "as CSV" in refusal.value.remedy
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError) as refusal:
        list(read([tmp_path / "a.parquet"], fields=("a",)))
    assert "regard[parquet]" in refusal.value.remedy


def test_every_fault_of_a_messy_table_is_counted_with_its_place(tmp_path):
    rows = [[text, label] for *_, text, _, label, _ in fill(40)]
    rows[3][0] = ""
    rows[5][1] = " "
    rows[7].append("more")
    rows[9] = rows[8]
    rows[11] = [rows[10][0], "Login" if rows[10][1] != "Login" else "Other"]
    rows[13][0] = " ".join(["word"] * 10_000)
    rows[15][1] = rows[16][1] = "Rare"
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([["text", "label"], *rows])
    report = check({"train": [path]}, request=TEXT_AND_LABEL, labelled=True)
    found = {kind.kind: (kind.total, kind.first[0].line) for kind in report.summarize()}
    assert found.pop("duplicate")[0] >= 1
    assert found == {
        "empty-field": (1, 5),
        "empty-label": (1, 7),
        "columns": (1, 9),
        "conflict": (1, 13),
        "long": (1, 15),
        "rare-label": (1, 0),
    }
    assert [kind.severity for kind in report.summarize()][:3] == ["bad"] * 3
    assert report.bad == 3 and not report.ok
