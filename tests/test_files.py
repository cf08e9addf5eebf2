"""Durable files: whole or absent, and on the disk before a seal vouches for them."""

import contextlib
import errno
import fcntl
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from regard import files
from regard.files import (
    cache_folder,
    hash_file,
    lock_file,
    read_seal,
    write_arrays,
    write_seal,
    write_tensors_whole,
    write_whole,
)
from regard.recipe.load import make
from regard.report.run import write_report
from regard.training.train import train

SEALS = ("regard.json", "index.json")


def state(found):
    """Return what tells one content of a file or folder from another."""
    return found.st_ino, found.st_size, found.st_mtime_ns


@pytest.fixture
def not_on_disk(monkeypatch):
    """Collect what a seal vouches for and was not synced before the seal took its place."""
    synced, missing, sealed = set(), [], []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle):
        synced.add(state(os.fstat(handle)))
        fsync(handle)

    def watched_replace(source, target, **more):
        if Path(target).name in SEALS:
            folder = Path(target).parent
            named = [folder / name for name in json.loads(Path(source).read_text())["files"]]
            missing.extend(p for p in [source, *named] if state(Path(p).stat()) not in synced)
            if folder.stat().st_ino not in {inode for inode, *_ in synced}:
                missing.append(folder)
            sealed.append(named)
        replace(source, target, **more)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    yield missing
    assert sealed, "no seal was written"


def test_every_file_of_a_run_is_on_the_disk_before_its_seal(tmp_path, not_on_disk):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\t{'ab'[n % 2]}\n" for n in range(40)))
    recipe = make(
        {
            "task": "classification",
            "data": {"train": [str(tmp_path / "a.tsv")], "holdout": 0.3},
            "text": {"tokenizer": "words", "vocabulary": 300},
            "model": {"width": 8, "depth": 1, "feed_forward": 8},
            "training": {"budget": "2 steps", "evaluations": 1, "threads": 1},
        }
    )
    train(recipe, tmp_path / "run", report=write_report)
    assert not_on_disk == []


def test_every_file_of_a_folder_is_on_the_disk_before_its_seal(tmp_path, not_on_disk):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    write_seal(tmp_path / "index.json", {"format": 1}, ["a", "b"])
    assert not_on_disk == []
    sealed = json.loads((tmp_path / "index.json").read_text())
    del sealed["digest"]
    assert sealed == {"format": 1, "files": {n: hash_file(tmp_path / n) for n in ("a", "b")}}


def seal_of(folder):
    (folder / "a").write_text("a")
    write_seal(folder / "s", {"format": 2, "regard": "0.1.0"}, ["a"])
    return folder / "s"


def test_every_flipped_bit_of_a_seal_is_found_or_changes_nothing(tmp_path):
    seal = seal_of(tmp_path)
    whole, said = seal.read_bytes(), read_seal(seal, digested=2)
    for place in range(0, 8 * len(whole), 3):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        seal.write_bytes(flipped)
        with contextlib.suppress(ValueError):
            assert read_seal(seal, digested=2) == said


@pytest.mark.parametrize(
    "raw", ["", "[]", "1", "{}", '{"format": 2, "files": {"a": 1}}', "[" * 9999]
)
def test_what_is_no_seal_is_refused(tmp_path, raw):
    (tmp_path / "s").write_text(raw)
    with pytest.raises(ValueError):
        read_seal(tmp_path / "s", digested=2)


def test_a_seal_without_a_digest_is_older_than_those_with_one(tmp_path):
    (tmp_path / "s").write_text('{"format": 1, "files": {}}')
    assert read_seal(tmp_path / "s", digested=2) == {"format": 1, "files": {}}
    with pytest.raises(ValueError, match="changed"):
        read_seal(tmp_path / "s", digested=1)


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    with lock_file(tmp_path / "l", wait=False):
        with pytest.raises(BlockingIOError), lock_file(tmp_path / "l", wait=False):
            pass
        assert (tmp_path / "l").exists()
    with lock_file(tmp_path / "l", wait=False):
        pass
    assert not (tmp_path / "l").exists()


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    true, calls = fcntl.flock, []

    def flock(file, kind):
        if not calls:
            (tmp_path / "l").unlink()  # by the last holder, between our open and our flock
        calls.append(kind)
        true(file, kind)

    monkeypatch.setattr(fcntl, "flock", flock)
    with lock_file(tmp_path / "l", wait=True):
        assert len(calls) == 2 and (tmp_path / "l").exists()


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch, name):
    write_whole(tmp_path / "a", "old")
    write_tensors_whole(tmp_path / "t", {"a": torch.ones(3)})

    def failing(*_arguments, **_more):
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(os, name, failing)
    with pytest.raises(OSError, match="the disk fails"):
        write_whole(tmp_path / "a", "new")
    with pytest.raises(OSError, match="the disk fails"):
        write_tensors_whole(tmp_path / "t", {"a": torch.zeros(3)})
    assert (tmp_path / "a").read_text() == "old"
    assert load_file(tmp_path / "t")["a"].tolist() == [1, 1, 1]


def test_a_rename_is_synced_with_its_folder(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda h: (done.append(os.fstat(h).st_ino), fsync(h)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("renamed"), replace(a, b)))
    write_tensors_whole(tmp_path / "t", {"a": torch.ones(3)})
    assert done == [(tmp_path / "t").stat().st_ino, "renamed", tmp_path.stat().st_ino]


def test_other_mistakes_of_the_library_stay_what_they_are(tmp_path):
    with pytest.raises(SafetensorError), files.raise_os_errors():
        raise SafetensorError("a header too large")
    with pytest.raises(OSError, match="No space"), files.raise_os_errors():
        raise SafetensorError("I/O error: (os error 28)")


def test_arrays_come_back(tmp_path):
    from safetensors.numpy import load_file as load_arrays

    write_arrays(tmp_path / "a", {"x": np.arange(5, dtype=np.uint32)})
    assert load_arrays(tmp_path / "a")["x"].tolist() == [0, 1, 2, 3, 4]


def test_the_cache_goes_to_the_configured_folder(monkeypatch, tmp_path):
    for name in ("REGARD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "regard"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_folder() == tmp_path / "x" / "regard"
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "r"))
    assert cache_folder() == tmp_path / "r"
