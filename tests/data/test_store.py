"""A store gives back what went in, is named by it, and is complete whenever it exists."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.store import Store
from regard.errors import DataError


def by_character(examples):
    return [tuple([ord(c) for c in text] for text in example) for example in examples]


def store(root, examples, *, key=("k",), longest=50, encode=by_character):
    return Store.open_or_write(root, lambda: iter(examples), encode, key=key, longest=longest)


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), min_size=1, max_size=23))
def test_what_goes_in_comes_out(tmp_path_factory, examples):
    kept = store(tmp_path_factory.mktemp("s"), examples)
    assert len(kept) == len(examples)
    for number, example in enumerate(examples):
        assert tuple("".join(map(chr, ids)) for ids in kept[number]) == example


def test_lengths_and_tokens_are_counted(tmp_path):
    kept = store(tmp_path, [("ab", "abc"), ("", "a"), ("abcde", "")])
    assert kept.lengths(np.array([2, 0])).tolist() == [[5, 0], [2, 3]]
    assert kept.tokens == 4


def test_tokens_are_counted_piece_by_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.store.PIECE", 3)
    kept = store(tmp_path, [("abba", "c"), ("aab", "c")])
    counts = kept.count_tokens(0, tokens=128)
    assert counts[[ord("a"), ord("b")]].tolist() == [4, 3]
    assert counts.sum() == 7
    assert np.flatnonzero(kept.find_present(0, tokens=128)).tolist() == [ord("a"), ord("b")]


def test_the_overlong_are_left_out_and_counted(tmp_path):
    kept = store(tmp_path, [("ab", "c"), ("abcd", "c"), ("c", "abcd")], longest=3)
    assert kept.counts == (1, 2)


def test_nothing_to_keep_is_an_error_that_says_why(tmp_path):
    with pytest.raises(DataError, match="2 were longer than 1 tokens"):
        store(tmp_path, [("ab", "c"), ("abcd", "c")], longest=1)
    assert list(tmp_path.iterdir()) == []


def test_the_same_corpus_is_encoded_once(tmp_path):
    def never(_examples):
        raise AssertionError("encoded twice")

    first = store(tmp_path, [("ab", "c")])
    assert store(tmp_path, [("ab", "c")], encode=never).fingerprint == first.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        {"examples": [("a", "bc")]},
        {"examples": [("ab", "c"), ("", "")]},
        {"key": ("another tokenizer",)},
        {"longest": 49},
    ],
    ids=["moved border", "one more", "key", "longest"],
)
def test_whatever_decides_the_ids_decides_the_name(tmp_path, other):
    first = store(tmp_path, [("ab", "c")])
    assert store(tmp_path, **{"examples": [("ab", "c")], **other}).fingerprint != first.fingerprint


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    def fail(_examples):
        raise RuntimeError("disk")

    with pytest.raises(RuntimeError):
        store(tmp_path, [("ab", "c")], encode=fail)
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    def peak(examples):
        def texts():
            return ((f"{n} words", f"{n} Wörter") for n in range(examples))

        tracemalloc.start()
        folder = tmp_path / str(examples)
        Store.open_or_write(folder, texts, by_character, key=(), longest=50)
        reached = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return reached

    assert peak(40_000) < 1.3 * peak(10_000)
