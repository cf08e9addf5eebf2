"""Whatever fails while a run is trained, finished and sealed: --resume ends with the same bits."""

import errno
import os
import random
import shutil

import pytest

from regard.errors import DiskError, RegardError, UsageError
from regard.report.run import write_report
from regard.run import SEALED, Run, find_damage
from regard.run_files import read_journal
from regard.training.journal import Journal
from regard.training.train import train

from .faults import FAULTS, KILLED, attempt, every_fault, flip


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return the folder below which operations fail: the run and the cache are in it."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "disk" / "cache"))
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


def hashes(folder):
    """Return what must be the same after any fault; other files hold seconds."""
    files = Run(folder).facts["files"]
    assert "report.html" in files
    return {name: files[name] for name in ("model.safetensors", "tokenizer.json", "answers.jsonl")}


def finish(recipe, run):
    """Begin or go on, whichever is possible."""
    if not run.exists():
        train(recipe, run, report=write_report)
        return
    try:
        train(recipe, run, resume=True, report=write_report)
    except UsageError as error:
        assert "is a finished run" in error.problem


@pytest.mark.parametrize(
    ("fault", "most"),
    [
        *(("tear", 3), ("blank", 2), ("eio", 2)),
        *(pytest.param(fault, 0, marks=pytest.mark.slow) for fault in FAULTS),
    ],
)
def test_a_fault_at_any_operation_of_a_training_loses_nothing(recipe, place, fault, most, figure):
    recipe, run = recipe(), place / "run"
    finish(recipe, run)  # here, so that the processes below need not import what it imports
    whole = hashes(run)

    def prepare():
        for inner in place.iterdir():
            shutil.rmtree(inner)
        return place

    for at, died in every_fault(lambda: finish(recipe, run), prepare, fault=fault, most=most):
        where = f"{at}: {died.operations[-1]}"
        assert died.code in (0, KILLED, DiskError.exit_code), f"{where}: {died.said}"
        again = attempt(lambda: finish(recipe, run), place)
        assert again.code == 0, f"{where}: {again.said}"
        assert hashes(run) == whole, where
        assert not find_damage(run), where
        figure(fault, 1)


@pytest.mark.parametrize(
    "name", [name for name in SEALED if name not in ("README.md", "report.html")]
)
def test_resuming_a_run_with_a_changed_file_finishes_it_again(recipe, place, name):
    recipe, run = recipe(), place / "run"
    train(recipe, run, report=write_report)
    if not (run / name).exists():
        pytest.skip(f"a classifier has no {name}")
    whole = hashes(run)
    if name == "recipe.toml":
        (run / name).write_text((run / name).read_text() + "\n")
    else:
        flip(run / name, random.Random(5))
    assert name in find_damage(run)
    train(recipe, run, resume=True, report=write_report)
    assert hashes(run) == whole


def test_resuming_a_run_whose_weights_are_gone_finishes_it_again(recipe, place):
    recipe, run = recipe(), place / "run"
    train(recipe, run, report=write_report)
    whole = hashes(run)
    for damage in (b"", b"{}"):
        for name in ("model.safetensors", "regard.json"):
            (run / name).write_bytes(damage)
            train(recipe, run, resume=True, report=write_report)
            assert hashes(run) == whole


def test_a_whole_run_is_not_trained_again(recipe, place):
    train(recipe(), place / "run", report=write_report)
    with pytest.raises(UsageError, match="is a finished run"):
        train(recipe(), place / "run", resume=True)


def test_a_report_that_fails_leaves_a_sealed_run(recipe, place):
    def fail(run):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(recipe(), place / "run", report=fail)
    assert Run(place / "run").metrics


def test_a_disk_that_fails_under_the_report_leaves_a_run_to_be_resumed(recipe, place):
    def fail(run):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(DiskError):
        train(recipe(), place / "run", report=fail)
    train(recipe(), place / "run", resume=True, report=write_report)
    assert "report.html" in Run(place / "run").facts["files"]


def test_no_flipped_bit_of_a_run_changes_an_answer(recipe, place, figure):
    run, rng, silent = place / "run", random.Random(11), 0
    train(recipe(), run)
    whole = {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()}
    said = _answers(run)
    for name, raw in whole.items():
        for _ in range(25 if raw else 0):
            flip(run / name, rng)
            try:
                silent += _answers(run) != said
            except RegardError:
                pass
            finally:
                (run / name).write_bytes(raw)
        figure("corruption", 25 if raw else 0)
    assert silent == 0


def _answers(folder):
    """Everything that is read of a run."""
    run = Run(folder)
    parameters = {name: tensor.numpy().tobytes() for name, tensor in run.parameters.items()}
    return run.recipe, run.metrics, run.answers, run.journal, parameters, run.facts["files"].keys()


def test_a_line_cut_short_takes_no_other_with_it(tmp_path):
    Journal(tmp_path / "j").write("start", step=0)
    with (tmp_path / "j").open("a") as journal:
        journal.write('{"event": "step", "st')
    Journal(tmp_path / "j").write("resumed", step=-1)
    assert [line["event"] for line in read_journal(tmp_path / "j")] == ["resumed"]


def test_what_is_no_event_is_left_out(tmp_path):
    (tmp_path / "j").write_bytes(b'1\n[]\n{}\n\xff\n{"event": "end"}\n' + b"[" * 99999)
    assert read_journal(tmp_path / "j") == [{"event": "end"}]


@pytest.mark.parametrize("number", [errno.EIO, errno.EROFS, errno.ENOSPC])
def test_a_disk_that_refuses_a_run_folder_is_the_disks_error(recipe, place, monkeypatch, number):
    def refuse(*_arguments, **_more):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(DiskError):
        train(recipe(), place / "run")
