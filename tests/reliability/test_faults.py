"""The fault injector itself: every fault does to a small program what it says."""

import random

import pytest
import torch

from regard.files import sync, write_tensors, write_whole

from .faults import FAULTS, KILLED, attempt, every_fault, flip


def write_twice(root):
    """Write a file that is synced, and one that is not; then a third, whose name is not."""

    def work():
        write_whole(root / "synced", "s" * 100)
        with (root / "lost").open("w") as file:
            file.write("l" * 100)
        write_whole(root / "last", "z")

    return work


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "old").write_text("old")
    return tmp_path / "root"


def contents(root):
    return {file.name: file.read_text() for file in root.iterdir()}


def place(died, operation):
    return died.operations.index(operation) + 1


def test_every_operation_below_the_folder_is_counted_and_no_other(root):
    calm = attempt(write_twice(root), root)
    assert calm.code == 0
    assert calm.operations[:5] == [
        "create .synced.unfinished",
        "write .synced.unfinished",
        "open .synced.unfinished",
        "fsync .synced.unfinished",
        "replace .synced.unfinished",
    ]
    assert attempt(lambda: (root.parent / "beside").write_text("x"), root).operations == []


def test_a_kill_leaves_what_was_done_before_it(root):
    at = place(attempt(write_twice(root), root), "write lost")
    (root / "lost").unlink()
    died = attempt(write_twice(root), root, at=at)
    assert died.code == KILLED
    assert len(died.operations) == at
    assert contents(root)["lost"] == ""


def test_a_torn_write_leaves_half(root):
    at = place(attempt(write_twice(root), root), "write lost")
    assert attempt(write_twice(root), root, at=at, fault="tear").code == KILLED
    assert contents(root)["lost"] == "l" * 50


def test_a_power_cut_leaves_what_was_synced(root):
    at = place(attempt(write_twice(root), root), "create .last.unfinished")
    for file in ("lost", "last", "synced"):
        (root / file).unlink()
    assert attempt(write_twice(root), root, at=at, fault="power").code == KILLED
    assert contents(root) == {"old": "old", "synced": "s" * 100}
    (root / "synced").unlink()
    assert attempt(write_twice(root), root, at=at, fault="blank").code == KILLED
    assert contents(root) == {"old": "old", "synced": "s" * 100, "lost": ""}


def test_a_name_that_was_not_synced_is_lost(root):
    def rename():
        (root / "old").rename(root / "new")
        (root / "new").unlink()

    assert attempt(rename, root, at=2, fault="power").code == KILLED
    assert contents(root) == {"old": "old"}


def test_a_folder_that_was_not_synced_is_empty(root):
    def work():
        (root / "inner").mkdir()
        write_whole(root / "inner" / "file", "x")
        sync(root)
        (root / "inner" / "lost").write_text("x")

    total = len(attempt(work, root).operations)
    (root / "inner" / "file").unlink()
    (root / "inner" / "lost").unlink()
    (root / "inner").rmdir()
    attempt(work, root, at=total, fault="power")
    assert [path.name for path in (root / "inner").iterdir()] == ["file"]


@pytest.mark.parametrize(("fault", "said"), [("enospc", "No space"), ("eio", "Input/output")])
def test_an_error_is_raised_as_the_system_would(root, fault, said):
    for _, died in every_fault(write_twice(root), lambda: root, fault=fault):
        assert died.code in (0, 1)
        assert died.code == 0 or said in died.said


@pytest.mark.parametrize("fault", FAULTS)
def test_tensor_files_fail_as_others_do(root, fault):
    died = attempt(
        lambda: write_tensors(root / "t", {"a": torch.ones(99)}), root, at=2, fault=fault
    )
    assert died.operations[-1] == "tensors t"
    size = (root / "t").stat().st_size if (root / "t").exists() else 0
    assert (size > 100) == (fault == "tear")
    assert died.code == (1 if fault in ("enospc", "eio", "broken") else KILLED)
    assert ("OSError" in died.said) == (died.code == 1)


def test_a_flip_changes_one_bit(root):
    flip(root / "old", random.Random(1))
    changed = (root / "old").read_bytes()
    assert sum((a ^ b).bit_count() for a, b in zip(changed, b"old", strict=True)) == 1
