from itertools import islice

import pytest

from regard.data.record import Record
from regard.data.worlds import WORLDS, open_world
from regard.data.worlds.scenes import draw_scenes
from regard.errors import UsageError


def test_the_worlds_are_these():
    assert WORLDS == (
        "scenes",
        "reviews",
        "names",
        "copy",
        "reverse",
        "first",
        "parity",
        "dyck",
        "aa",
    )


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_a_world_opens_as_records_of_two_fields(name, split):
    records = list(islice(open_world(name, split), 11))
    assert all(isinstance(record, Record) for record in records)
    assert [record.line for record in records] == list(range(1, 12))
    assert {record.file for record in records} == {f"world:{name}/{split}"}
    assert all(len(record.fields) == 2 and all(record.fields) for record in records)


def test_the_records_of_scenes_are_its_sentence_pairs():
    fields = [record.fields for record in islice(open_world("scenes", "test"), 13)]
    assert fields == [(scene.source, scene.target) for scene in draw_scenes("test", count=13)]


@pytest.mark.parametrize(
    ("name", "near"), {"scene": "scenes", "pariti": "parity", "Dyck": "dyck", "xyz": ""}.items()
)
def test_an_unknown_world_is_refused_with_the_nearest_name(name, near):
    with pytest.raises(UsageError) as refusal:
        open_world(name, "train")
    assert f"world:{name}" in refusal.value.problem and "reverse" in refusal.value.problem
    assert f"world:{near}" in refusal.value.remedy


def test_an_unknown_split_is_refused_before_the_first_record():
    with pytest.raises(UsageError, match="'dev'"):
        open_world("copy", "dev")
