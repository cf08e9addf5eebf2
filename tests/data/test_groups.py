"""Groups of examples: read from a column of any table, remembered in bounded memory."""

import json

import pytest

from regard.data.groups import Groups
from regard.data.record import Fault, Record, Request
from regard.data.source import scan
from regard.errors import UsageError

ROWS = [("gut", "x", "17"), ("schlecht", "y", "")]
HEADER = [("text", "label", "film")]


def write_table(path, rows, mark):
    path.write_text("".join(mark.join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_records(path, group, fields=()):
    return list(scan([path], Request(2, fields, group=group)))


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
@pytest.mark.parametrize(
    ("header", "group", "fields"),
    [
        (HEADER, "film", ()),
        (HEADER, "2", ()),
        (HEADER, "film", ("text", "label")),
        ([], "2", ()),
        ([], "2", ("0", "1")),
    ],
)
def test_a_column_of_a_table_groups_its_rows(tmp_path, ending, mark, header, group, fields):
    path = write_table(tmp_path / f"a.{ending}", [*header, *ROWS], mark)
    found = read_records(path, group, fields)
    assert [(one.fields, one.group) for one in found] == [(row[:2], row[2]) for row in ROWS]
    assert [one._replace(group="") for one in found] == read_records(path, "", fields)


@pytest.mark.parametrize("group", ["director", "7"])
def test_a_table_without_the_column_has_no_groups(tmp_path, group):
    path = write_table(tmp_path / "a.csv", HEADER + ROWS, ",")
    assert [one.group for one in read_records(path, group)] == ["", ""]


@pytest.mark.parametrize(
    ("film", "group", "expected"),
    [
        ({"film": "tt1 "}, "film", "tt1"),
        ({"film": 17}, "film", "17"),
        ({"film": {"id": "tt2"}}, "film.id", "tt2"),
        ({"film": None}, "film", ""),
        ({"film": ["tt1"]}, "film", ""),
        ({}, "film", ""),
    ],
)
def test_a_field_of_an_object_groups_it(tmp_path, film, group, expected):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "gut", "label": "x", **film}), encoding="utf-8")
    (record,) = read_records(path, group)
    assert record == Record(("gut", "x"), str(path), 1, expected)


def test_a_group_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "gut", "label": "x", "film": "\\ud800"}\n', encoding="utf-8")
    (fault,) = read_records(path, "film")
    assert isinstance(fault, Fault) and fault.line == 1 and "group" in fault.problem


@pytest.mark.parametrize("name", ["a.txt", "a.de", "a.po", "a.tmx", "a.ft", "", "world:reviews"])
def test_a_format_without_columns_refuses_a_group(tmp_path, name):
    world = name.startswith("world:")
    with pytest.raises(UsageError, match=r"data\.group = 'film' names a column") as caught:
        list(scan([name if world else tmp_path / name], Request(None, group="film")))
    assert "tsv, csv or jsonl" in caught.value.remedy


def test_of_too_many_groups_some_are_remembered_and_those_are_whole():
    groups, all_groups = Groups(most=19), Groups()
    for number in range(997):
        for remembered in (groups, all_groups):
            remembered.add(Record(("x",), "a", number, f"film {number % 113}"))
    kept = list(groups.find_shared(all_groups))
    assert 1 < len(kept) <= 19 and groups.scale >= 113 / 19 and all_groups.scale == 1
    assert all(here == there for _, here, there in kept)
