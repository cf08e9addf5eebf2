"""Labels as files write them: lists, truths, numbers, several at a time."""

import json

import pytest

from regard.data.record import Fault, Record, Request
from regard.data.source import scan


def found(path, *, expected=2, separator="", fields=(), roles=()):
    return list(scan([path], Request(expected, fields, (), separator, roles=roles)))


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("label", "expected"),
    [("a", "a"), (3, "3"), (0.5, "0.5"), (True, "true"), (["a", 2, "c"], "a|2|c"), (["a"], "a")],
)
def test_json_labels_become_text(tmp_path, label, expected):
    path = written(tmp_path / "a.jsonl", json.dumps({"text": "x", "label": label}))
    (record,) = found(path, separator="|")
    assert record.fields == ("x", expected)


@pytest.mark.parametrize("label", [{"a": 1}, [["a"]], [], None])
def test_json_labels_that_are_none_are_named(tmp_path, label):
    path = written(tmp_path / "a.jsonl", json.dumps({"text": "x", "label": label}))
    (fault,) = found(path, separator="|")
    assert isinstance(fault, Fault) and fault.line == 1


def test_a_list_of_several_needs_a_separator_and_the_remedy_names_it(tmp_path):
    path = written(tmp_path / "a.jsonl", json.dumps({"text": "x", "label": ["a", "b"]}))
    (fault,) = found(path)
    assert isinstance(fault, Fault) and "list of 2" in fault.problem
    assert 'data.label_separator = "|"' in fault.remedy


def test_a_list_of_one_is_one_label(tmp_path):
    rows = ({"text": "x", "label": ["a"]}, {"text": ["x"], "label": "a"})
    path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    record, fault = found(path, fields=("text", "label"), roles=("text", "label"))
    assert record.fields == ("x", "a")
    assert fault.problem == "The field 'text' is a list of 1."


def test_an_empty_list_says_that_there_is_no_label_and_an_empty_field_does_not(tmp_path):
    rows = ({"text": "x", "label": []}, {"text": "y", "label": ""}, {"text": [], "label": ["a"]})
    path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    record, *faults = found(path, separator="|", fields=("text", "label"), roles=("text", "label"))
    assert record.fields == ("x", "")
    assert [fault.problem for fault in faults] == ["The label is empty.", "The text is empty."]


def test_fasttext_lines_may_have_several_labels_if_asked_for(tmp_path):
    path = written(tmp_path / "a.ft", "__label__a __label__b some text\n__label__c more\n")
    several = found(path, separator=", ")
    assert [record.fields for record in several] == [("some text", "a, b"), ("more", "c")]
    first, second = found(path)
    assert isinstance(first, Fault) and isinstance(second, Record)


def test_a_text_file_with_tabs_is_a_table_and_one_without_is_not(tmp_path):
    path = written(tmp_path / "a.txt", "x\ty\tlabel 1\nz\tw\tlabel 2\n")
    assert [record.fields[2] for record in found(path, expected=3)] == ["label 1", "label 2"]
    from regard.errors import UsageError

    with pytest.raises(UsageError, match="needs 3 fields"):
        found(written(tmp_path / "b.txt", "only one text\n"), expected=3)


def test_a_csv_with_tabs_is_read_by_tabs_and_quotes_stay(tmp_path):
    path = written(tmp_path / "a.csv", 'x\t1.0\tHe said "no.\tBoth, then\n')
    (record,) = found(path, expected=3, fields=("2", "3", "1"))
    assert record.fields == ('He said "no.', "Both, then", "1.0")


def test_rows_may_be_longer_only_where_columns_are_numbered(tmp_path):
    path = written(tmp_path / "a.tsv", "x\ty\nz\tw\tmore\nv\n")
    numbered = found(path, fields=("0", "1"))
    assert [type(one) for one in numbered] == [Record, Record, Fault]
    assert [type(one) for one in found(path)] == [Record, Fault, Fault]
