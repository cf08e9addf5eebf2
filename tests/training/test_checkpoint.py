"""A checkpoint is whole or absent, whatever happens while it is written or lies on the disk."""

import builtins
import errno
import os
import random
from pathlib import Path

import pytest
import torch

from regard.errors import DiskError, RunError
from regard.training import checkpoint
from regard.training.checkpoint import Checkpoint, checkpoints, load, newest, save, verify


def made(step):
    return Checkpoint(
        {"model": {"a": torch.full((3, 5), float(step))}, "optimizer": {"a/m": torch.ones(7)}},
        {"step": step, "made_of": {}},
    )


def test_what_is_saved_is_loaded(tmp_path):
    folder = save(tmp_path, made(7), keep=2)
    again = load(folder)
    assert again.state["step"] == 7
    assert torch.equal(again.tensors["model"]["a"], made(7).tensors["model"]["a"])


def test_old_ones_go_only_beyond_those_kept(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, made(step), keep=2)
    assert [folder.name for folder in checkpoints(tmp_path)] == ["step-00000003", "step-00000002"]


class Cut(BaseException):
    """Stands for a process that ends without a word."""


def operations():
    """Every function that touches the disk during a save, patchable by name."""
    return [
        (os, "open"),
        (os, "fsync"),
        (os, "mkdir"),
        (os, "rename"),
        (checkpoint, "write_tensors"),
    ]


def count_and_break(monkeypatch, at, breaking):
    """Let the disk operation number ``at`` break; return how many there were."""
    seen = {"count": 0}

    def wrap(module, name):
        true = getattr(module, name)

        def watched(*arguments, **named):
            seen["count"] += 1
            if seen["count"] == at:
                raise breaking
            return true(*arguments, **named)

        monkeypatch.setattr(module, name, watched)

    for module, name in operations():
        wrap(module, name)
    true_open = builtins.open
    monkeypatch.setattr(Path, "write_text", _counting_write(seen, at, breaking, true_open))
    return seen


def _counting_write(seen, at, breaking, true_open):
    def write(self, text, encoding=None):
        seen["count"] += 1
        if seen["count"] == at:
            with true_open(self, "w", encoding=encoding) as file:
                file.write(text[: len(text) // 2])  # a torn write
            raise breaking
        with true_open(self, "w", encoding=encoding) as file:
            file.write(text)
        return len(text)

    return write


def total_operations(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        seen = count_and_break(patch, 0, Cut())
        save(tmp_path / "counted", made(2), keep=2)
    return seen["count"]


def test_a_kill_at_any_operation_leaves_the_last_checkpoint_whole(tmp_path):
    total = total_operations(tmp_path)
    assert total > 10
    for at in range(1, total + 1):
        parent = tmp_path / f"at{at}"
        save(parent, made(1), keep=2)
        with pytest.MonkeyPatch.context() as patch:
            count_and_break(patch, at, Cut())
            with pytest.raises(Cut):
                save(parent, made(2), keep=2)
        found = newest(parent, print)
        assert found is not None, at
        state = load(found)
        assert float(state.tensors["model"]["a"][0, 0]) == state.state["step"], at
        save(parent, made(2), keep=2)
        assert load(newest(parent, print)).state["step"] == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_error_at_any_operation_is_reported_or_harmless(tmp_path, number):
    result = 0
    for at in range(1, total_operations(tmp_path) + 1):
        parent = tmp_path / f"at{number}-{at}"
        save(parent, made(1), keep=2)
        with pytest.MonkeyPatch.context() as patch:
            count_and_break(patch, at, OSError(number, os.strerror(number)))
            try:
                save(parent, made(2), keep=2)
            except DiskError as error:
                result += 1
                assert "could not be written" in error.problem
                assert newest(parent, print) is not None
            else:
                assert load(newest(parent, print)).state["step"] == 2
    assert result > 8


def test_every_flipped_bit_is_found(tmp_path):
    folder = save(tmp_path, made(1), keep=2)
    files = sorted(folder.iterdir())
    rng = random.Random(0)
    for _ in range(300):
        file = rng.choice(files)
        whole = file.read_bytes()
        flipped = bytearray(whole)
        place = rng.randrange(len(flipped))
        flipped[place] ^= 1 << rng.randrange(8)
        file.write_bytes(flipped)
        try:
            with pytest.raises(RunError):
                verify(folder)
        finally:
            file.write_bytes(whole)
    verify(folder)


def test_a_checkpoint_renamed_to_a_later_step_is_found(tmp_path):
    save(tmp_path, made(1), keep=2)
    save(tmp_path, made(2), keep=2).rename(tmp_path / "step-00000009")
    said = []
    assert load(newest(tmp_path, said.append)).state["step"] == 1
    assert "it was saved after step 2" in said[0]


def test_cut_short_missing_and_added_files_are_found(tmp_path):
    folder = save(tmp_path, made(1), keep=2)
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for broken in (whole[:-1], b""):
            file.write_bytes(broken)
            with pytest.raises(RunError):
                verify(folder)
        file.unlink()
        with pytest.raises(RunError):
            verify(folder)
        file.write_bytes(whole)
    (folder / "extra").write_text("x")
    with pytest.raises(RunError, match="extra"):
        verify(folder)


def test_a_bad_checkpoint_is_set_aside_and_the_one_before_it_used(tmp_path):
    save(tmp_path, made(1), keep=3)
    bad = save(tmp_path, made(2), keep=3)
    (bad / "state.json").write_text("{}")
    said = []
    assert load(newest(tmp_path, said.append)).state["step"] == 1
    assert "step-00000002" in said[0]
    assert (tmp_path / "bad-0-step-00000002").is_dir()


def test_a_disk_that_cannot_read_back_what_was_saved_is_the_disks_error(tmp_path, monkeypatch):
    def fail(_folder):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    save(tmp_path, made(1), keep=2)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "verify", fail)
        with pytest.raises(DiskError):
            save(tmp_path, made(2), keep=2)
    assert load(newest(tmp_path, print)).state["step"] == 2
