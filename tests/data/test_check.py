"""Every kind of defect is found and named with file and line."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from regard.data.check import MOST_LISTED, Finding, Report, check
from regard.data.record import Record, Request
from regard.data.record_checks import check_record
from regard.data.sketch import Match, Sketch

GOOD = [
    (f"Haus Nummer {number} ist schön", f"House number {number} is fine") for number in range(31)
]


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table(path: Path, rows) -> Path:
    return put(path, "".join("\t".join(row) + "\n" for row in rows))


def found(report: Report, kind: str) -> list[tuple[str, int]]:
    return [(Path(one.file).name, one.line) for one in report.findings if one.kind == kind]


def test_one_label_stops_training_and_so_the_check(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\tx\n" for n in range(9)))
    report = check({"train": [tmp_path / "a.tsv"]}, expected=2, labelled=True)
    assert not report.ok and "one-label" in report.counts


def test_a_run_among_folders_of_classes_is_no_class(tmp_path):
    for name in ("x", "y", "z"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "1.txt").write_text("a text")
    for name in ("recipe.toml", "journal.jsonl"):
        (tmp_path / "data" / "z" / name).write_text("")
    report = check({"train": [tmp_path / "data"]}, expected=2, labelled=True)
    assert not report.ok and any("a run of regard" in one.problem for one in report.findings)


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-32-le"])
@pytest.mark.parametrize("asked", ["utf-8", "utf-16"])
def test_utf_32_is_named_as_such(tmp_path, encoding, asked):
    text = "ein Text\tx\n" * 3
    (tmp_path / "a.tsv").write_bytes(
        ("" if encoding == "utf-32" else "\ufeff").encode(encoding) + text.encode(encoding)
    )
    report = check({"train": [tmp_path / "a.tsv"]}, request=Request(2, encoding=asked))
    assert not report.ok
    assert asked == "utf-16" or any("UTF-32" in one.problem for one in report.findings)


def test_good_data_has_nothing_to_find(tmp_path):
    report = check({"train": [table(tmp_path / "a.tsv", GOOD)], "test": []}, expected=2)
    assert report.ok and not report.findings and report.records == {"train": 31}


# what is wrong, the row that is put in at line 8, the kind it must be found as
ROWS = {
    "one side empty": ("Haus", " ", "empty-field"),
    "columns": ("Haus", "House", "extra", "columns"),
    "control character": ("Haus\x07 und Hof", "House", "control"),
    "decoded wrongly": ("Das HÃ¤us", "The house", "mojibake"),
    "replacement character": ("Das H�us", "The house", "mojibake"),
    "markup": ("Das <br /> Haus", "The house", "markup"),
    "entity": ("Haus &amp; Hof", "House and yard", "markup"),
    "long": ("Haus" + " Haus" * 1100, "House" + " House" * 800, "long"),
    "length ratio": ("Haus", "This is a very long sentence that cannot be right at all", "ratio"),
    "copied": ("This is not German", "This is  not german", "copied"),
    "spacing": (" Haus", "House", "spacing"),
    "duplicate": (*GOOD[3], "duplicate"),
    "duplicate but for case": (GOOD[3][0].upper(), GOOD[3][1], "duplicate"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_bad_row_is_found_where_it_is(tmp_path, row):
    *fields, kind = row
    path = table(tmp_path / "a.tsv", [*GOOD[:7], fields, *GOOD[7:]])
    report = check({"train": [path]}, expected=2)
    assert found(report, kind) == [("a.tsv", 8)]
    assert set(report.counts) == {kind}
    assert all(one.problem and one.remedy for one in report.findings)
    assert report.ok == (kind not in ("empty-field", "columns"))


def test_all_bad_lines_are_found_and_not_only_the_first(tmp_path):
    lines = [b"Haus\tHouse\n", b"\xff\tx\n", b"a\n", b"\n", b"b\0\tx\n", b"Hof\tYard\n"]
    report = check({"train": [put(tmp_path / "a.tsv", b"".join(lines))]}, expected=2)
    assert found(report, "encoding") == [("a.tsv", 2)]
    assert found(report, "columns") == [("a.tsv", 3)]
    assert found(report, "blank") == [("a.tsv", 4)]
    assert found(report, "nul") == [("a.tsv", 5)]
    assert report.records == {"train": 2} and not report.ok


def test_faults_of_whole_files_are_found_in_every_split(tmp_path):
    good = table(tmp_path / "good.tsv", GOOD)
    empty = put(tmp_path / "empty.tsv", "")
    broken = put(tmp_path / "broken.tsv.gz", gzip.compress(b"a\tb\n" * 99)[:-9])
    splits = {"train": [good, tmp_path / "none.tsv"], "valid": [empty], "test": [broken]}
    report = check(splits, expected=2)
    assert found(report, "missing-file") == [("none.tsv", 0)]
    assert found(report, "empty-file") == [("empty.tsv", 0)]
    assert [name for name, _ in found(report, "compression")] == ["broken.tsv.gz"]
    assert report.records["train"] == 31 and not report.ok


def test_misaligned_files_are_found_with_their_counts(tmp_path):
    files = [put(tmp_path / "a.de", "1\n2\n3\n"), put(tmp_path / "a.en", "1\n2\n")]
    report = check({"train": files}, expected=2)
    assert found(report, "misaligned") == [("a.de", 3)]
    assert "has 3" in report.findings[-1].problem and "has 2" in report.findings[-1].problem
    assert report.records == {"train": 2}


def test_a_wrong_call_is_a_finding_too(tmp_path):
    report = check({"train": [tmp_path / "a.de"]}, expected=2)
    assert [one.kind for one in report.findings] == ["usage"] and not report.ok


def test_json_faults_are_found(tmp_path):
    text = '{"source": "a", "target": "b"}\n{\n{"source": "a"}\n'
    report = check({"train": [put(tmp_path / "a.jsonl", text)]}, expected=2)
    assert (found(report, "json"), found(report, "missing-field")) == (
        [("a.jsonl", 2)],
        [("a.jsonl", 3)],
    )


def test_leaks_between_splits_are_found_with_both_places(tmp_path):
    train = table(tmp_path / "train.tsv", GOOD)
    test = table(tmp_path / "test.tsv", [("Neu", "New"), ("haus  nummer 5 IST schön", "other")])
    report = check({"train": [train], "test": [test]}, expected=2)
    assert found(report, "leak") == [("test.tsv", 2)]
    leak = next(one for one in report.findings if one.kind == "leak")
    assert leak.split == "test" and f"{train}:6" in leak.problem


def test_a_file_in_two_splits_is_found(tmp_path):
    path = table(tmp_path / "a.tsv", GOOD)
    report = check({"train": [path], "valid": [path]}, expected=2)
    assert found(report, "same-file") == [("a.tsv", 0)]
    assert report.counts["leak"] == 31 and len(found(report, "leak")) == MOST_LISTED


def write_films(path: Path, films) -> Path:
    rows = [{"text": f"{path.name} {n}", "label": "x", "film": film} for n, film in films]
    return put(path, "".join(json.dumps(row) + "\n" for row in rows))


def check_films(tmp_path, **films) -> Report:
    splits = {
        split: [write_films(tmp_path / f"{split}.jsonl", enumerate(each))]
        for split, each in films.items()
    }
    return check(splits, request=Request(2, group="film"))


def test_a_group_in_two_splits_is_found_with_counts_and_first_examples(tmp_path):
    report = check_films(tmp_path, train=["a", "b", "c", "b"], valid=["d", "b", "b", 7], test=[7])
    assert found(report, "group") == [("valid.jsonl", 2), ("test.jsonl", 1)]
    first, second = (one for one in report.findings if one.kind == "group")
    assert "'b' is in data.train" in first.problem and "'7' is in data.valid" in second.problem
    assert f"here: 2; there: 2, the first at {tmp_path / 'train.jsonl'}:2." in first.problem
    assert report.ok and {one.severity for one in report.findings} == {"warning"}


def test_splits_without_a_common_group_have_nothing_to_find(tmp_path):
    assert not check_films(tmp_path, train=["a", "b", "A"], valid=["c", "C"]).counts


@pytest.mark.parametrize(("splits", "severity"), [({}, "bad"), ({"valid": ["b"]}, "warning")])
def test_an_example_without_a_group_is_named(tmp_path, splits, severity):
    report = check_films(tmp_path, train=["a", None, " "], **splits)
    assert found(report, "no-group") == [("train.jsonl", 2), ("train.jsonl", 3)]
    assert {one.severity for one in report.findings} == {severity}


def test_a_format_without_columns_has_no_groups(tmp_path):
    path = put(tmp_path / "a.ft", "__label__x some text\n")
    report = check({"train": [path]}, request=Request(2, group="film"))
    assert [one.kind for one in report.findings] == ["usage"]
    assert "'fasttext' has none" in report.findings[0].problem


def test_labels_are_counted_and_their_faults_found(tmp_path):
    rows = [(f"Text {number}", "gut") for number in range(50)]
    rows += [("Text 7", "schlecht"), ("Text X", "schlehct"), ("Text Y", "schlecht")]
    train = table(tmp_path / "train.tsv", rows)
    test = table(tmp_path / "test.tsv", [("Neu", "guut"), ("Neuer", "gut")])
    report = check({"train": [train], "test": [test]}, expected=2, labelled=True)
    assert report.labels["train"] == {"gut": 50, "schlecht": 2, "schlehct": 1}
    assert found(report, "conflict") == [("train.tsv", 51)]
    assert set(report.counts) == {"conflict", "rare-label", "unknown-label", "imbalance"}
    result = {one.kind: one.problem for one in report.findings}
    assert "'schlehct'" in result["rare-label"] and "'guut'" in result["unknown-label"]
    assert "50 of 'gut'" in result["imbalance"]


def test_a_single_label_is_found(tmp_path):
    path = table(tmp_path / "a.tsv", [("eins", "gut"), ("zwei", "gut")])
    assert check({"train": [path]}, expected=2, labelled=True).counts == {"one-label": 1}


def test_worlds_are_checked_like_files():
    report = check({"test": ["world:reverse"]}, expected=2)
    assert report.ok and report.records["test"] > 0


def test_findings_are_listed_up_to_a_number_and_counted_to_the_end(tmp_path):
    report = check({"train": [put(tmp_path / "a.txt", b"\xff\n" * 97)]}, expected=1)
    assert report.counts["encoding"] == 97
    assert len(found(report, "encoding")) == MOST_LISTED == found(report, "encoding")[-1][1]


def test_the_report_can_be_written_as_json(tmp_path):
    path = table(tmp_path / "a.tsv", [*GOOD, GOOD[0]])
    result = json.loads(json.dumps(check({"train": [path]}, expected=2).as_dict()))
    assert (
        result["ok"] and result["counts"] == {"duplicate": 1} and result["records"] == {"train": 32}
    )
    assert result["findings"][0].keys() == set(Finding._fields)
    assert result["findings"][0]["line"] == 32


def sketch_of(texts, most: int = 1000) -> Sketch:
    sketch = Sketch(most)
    for line, text in enumerate(texts, start=1):
        sketch.add(Record((text, "x"), "a", line))
    return sketch


def test_a_sketch_finds_every_repetition():
    sketch = sketch_of(["a", "b", "A", "c", "a "])
    assert sketch.find_duplicates() == [Match(2, 0), Match(4, 2)]
    assert sketch.locate(4) == ("a", 5) and sketch.scale == 1


def test_a_full_sketch_keeps_equal_records_together():
    texts = [str(number) for number in range(3001)]
    sketch = sketch_of([*texts, *texts], most=500)
    assert sketch.scale > 4 and len(sketch._firsts) <= 500
    assert abs(len(sketch.find_duplicates()) * sketch.scale - 3001) < 900
    kept = {
        sketch.locate(pair.later)[1] - sketch.locate(pair.earlier)[1]
        for pair in sketch.find_duplicates()
    }
    assert kept == {3001}


def test_sketches_of_different_scale_find_what_they_share():
    small, large = sketch_of(["7", "neu"]), sketch_of(map(str, range(1000)))
    assert small.find_shared(large) == [Match(0, 7)]
    assert small.find_shared(sketch_of([])) == [] and sketch_of([]).find_shared(large) == []


def test_a_sampled_check_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.check.Sketch", lambda: Sketch(11))
    report = check({"train": [table(tmp_path / "a.tsv", GOOD)]}, expected=2)
    assert report.counts == {"sampled": 1} and report.ok


def test_a_label_is_no_text_to_be_suspicious_of():
    record = Record(("gut gemacht", " gut "), "a", 1)
    assert list(check_record(record, longest_characters=50, labelled=True)) == []
    kinds = [one.kind for one in check_record(record, longest_characters=5, labelled=False)]
    assert kinds == ["long", "spacing"]


def test_memory_is_bounded_by_the_hashes(tmp_path):
    path = table(tmp_path / "a.tsv", ((f"{number:0900d}", "x") for number in range(1201)))
    tracemalloc.start()
    report = check({"train": [path]}, expected=2)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.ok and most < 500_000 < path.stat().st_size / 2
