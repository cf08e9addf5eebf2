"""A file read whole is its text to the last character, or a fault with its place."""

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data.source import read
from regard.errors import DataError, UsageError

SHAKESPEARE = Path(__file__).parents[3] / "shared/data/tinyshakespeare/input.txt.gz"
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1
).filter(str.strip)
PACKS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def whole(*files, **options):
    return [record.fields for record in read(files, format="whole", expected=1, **options)]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=texts | st.sampled_from(["a\n\n\nb\n", "a\r\nb\rc\n\n", "\n x"]),
    ending=st.sampled_from([*PACKS]),
)
def test_every_character_comes_back(tmp_path, text, ending):
    file = tmp_path / f"text.txt{ending}"
    file.write_bytes(PACKS[ending](text.encode()))
    assert whole(file) == [(text,)]


def test_every_file_is_a_text_of_its_own(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}\n\n{name}\n")
    assert whole(tmp_path / "a", tmp_path / "b") == [("a\n\na\n",), ("b\n\nb\n",)]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b"\xff\xfea\x00", "UTF-16"),
        (b"fine\nso \xff\n", ":2: .*0xFF at column 4"),
        (b"\xef\xbb\xbfso \xff\n", ":1: .*0xFF at column 7"),
        (b"nul \0 here", "NUL"),
    ],
)
def test_what_is_no_text_is_named_with_its_place(tmp_path, raw, words):
    (tmp_path / "text.txt").write_bytes(raw)
    with pytest.raises(DataError, match=words):
        whole(tmp_path / "text.txt")


def test_a_broken_or_missing_file_says_so(tmp_path):
    packed = gzip.compress(b"so on and so on " * 99)
    (tmp_path / "text.gz").write_bytes(packed[:-9])
    with pytest.raises(DataError, match="broken"):
        whole(tmp_path / "text.gz")
    with pytest.raises(UsageError, match="no such file"):
        whole(tmp_path / "elsewhere.txt")


def test_a_task_of_pairs_cannot_read_plain_text(tmp_path):
    (tmp_path / "text.txt").write_text("so on")
    with pytest.raises(UsageError, match="plain text has one"):
        list(read([tmp_path / "text.txt"], format="whole", expected=2))


@pytest.mark.skipif(not SHAKESPEARE.exists(), reason="needs tinyshakespeare in ../shared/data")
def test_tinyshakespeare_has_as_many_characters_as_everybody_counts():
    ((text,),) = whole(SHAKESPEARE)
    assert len(text) == 1_115_394 and len(set(text)) == 65
