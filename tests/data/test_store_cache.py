"""Stored ids are trusted only if every bit is the one that was written; a bad store is written anew."""

import os
import random
import threading

import numpy as np
import pytest

from regard.data import store_cache
from regard.data.store import Store
from regard.errors import UsageError

from ..reliability.faults import FAULTS, KILLED, every_fault, flip

EXAMPLES = [("ab", "abc"), ("", "a"), ("abcde", "")]


def encode(examples):
    return [tuple([ord(c) for c in text] for text in example) for example in examples]


def store(root, examples=EXAMPLES, *, said=None, encode=encode):
    say = (lambda _text: None) if said is None else said.append
    return Store.open_or_write(root, lambda: iter(examples), encode, key=(), longest=9, say=say)


def texts(found):
    return [tuple("".join(map(chr, ids)) for ids in found[n]) for n in range(len(found))]


def files(folder):
    return sorted(file for file in folder.iterdir() if file.name != store_cache.USED)


def test_every_flipped_bit_is_found_and_the_store_written_anew(tmp_path):
    folder, rng, anew = store(tmp_path).folder, random.Random(3), 0
    for file in files(folder):
        for _ in range(20 if file.stat().st_size else 0):
            said = []
            flip(file, rng)
            assert texts(store(tmp_path, said=said)) == EXAMPLES
            anew += any("writing them anew" in line for line in said)
    assert anew == 20 * 5


@pytest.mark.parametrize("size", [0, 1, -1])
def test_a_file_cut_short_is_found_and_the_store_written_anew(tmp_path, size):
    folder = store(tmp_path).folder
    for file in files(folder):
        os.truncate(file, size if size >= 0 else file.stat().st_size - 1)
        assert texts(store(tmp_path)) == EXAMPLES
        file.unlink()
        assert texts(store(tmp_path)) == EXAMPLES


def test_a_store_of_an_earlier_version_is_written_anew(tmp_path):
    folder = store(tmp_path).folder
    (folder / "store.json").write_text('{"format": 1, "fields": 2, "kept": 3, "files": {}}')
    said = []
    assert texts(store(tmp_path, said=said)) == EXAMPLES
    assert "earlier version" in said[0]


@pytest.mark.parametrize("most", [7, pytest.param(0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_leaves_no_store_or_a_whole_one(tmp_path, fault, most):
    root, number = tmp_path / "root", 0

    def prepare():
        nonlocal number, root
        number += 1
        root = tmp_path / f"root{number}"
        root.mkdir(mode=0o700)
        return root

    for at, died in every_fault(lambda: store(root), prepare, fault=fault, most=most):
        assert died.code in (0, KILLED) or "OSError" in died.said, (at, died.said)
        assert texts(store(root)) == EXAMPLES, (at, died.operations[-1])
        assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []


def test_what_another_builder_left_unfinished_is_removed(tmp_path):
    left = tmp_path / f".{'0' * 32}.unfinished"
    left.mkdir()
    store(tmp_path)
    assert not left.exists()


def test_two_builders_write_one_store(tmp_path):
    calls, started = [], threading.Barrier(2)

    def slow(examples):
        calls.append(1)
        return encode(examples)

    def build():
        started.wait()
        store(tmp_path, encode=slow)

    builders = [threading.Thread(target=build) for _ in range(2)]
    for each in builders:
        each.start()
    for each in builders:
        each.join()
    assert len(calls) == 1


def test_the_least_recently_used_go_when_there_are_too_many_bytes(tmp_path, monkeypatch):
    first, second = (store(tmp_path, [("a" * n, "")]).folder for n in (1, 2))
    store(tmp_path, [("a", "")])
    monkeypatch.setenv("REGARD_CACHE_BYTES", str(2 * store_cache._size_of(first) + 50))
    said = []
    third = store(tmp_path, [("aaa", "")], said=said).folder
    assert (first.exists(), second.exists(), third.exists()) == (True, False, True)
    assert second.name in said[0] and "least recently used" in said[0]
    monkeypatch.setenv("REGARD_CACHE_BYTES", "1")
    assert np.all(store(tmp_path, [("aaa", "")])[0][0] == ord("a"))
    assert third.exists() and not first.exists()


def test_a_bound_must_be_a_number(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE_BYTES", "20 GB")
    with pytest.raises(UsageError, match="whole number of bytes"):
        store(tmp_path)


def test_the_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(UsageError, match="must belong to you"):
        store(root)
    root.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    with pytest.raises(UsageError, match="must belong to you"):
        store(root)


def test_a_new_folder_is_for_its_owner_alone(tmp_path):
    store(tmp_path / "root")
    assert (tmp_path / "root").stat().st_mode & 0o077 == 0
