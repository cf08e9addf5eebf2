"""A signal outside the steps ends a training at once, says what is saved, and is exit code 143."""

import os
import signal

import pytest

from regard.errors import Stopped
from regard.training import train as training
from regard.training.train import train


def terminate(*_arguments, **_named):
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("the signal was not heard")


def test_a_signal_while_the_data_is_read_leaves_nothing(recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "prepare", terminate)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped, match="nothing was saved") as stopped:
        train(recipe(), tmp_path / "run")
    assert stopped.value.exit_code == 143
    assert not (tmp_path / "run").exists()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_while_the_run_is_evaluated_loses_no_checkpoint(recipe, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(training, "finish", terminate)
        with pytest.raises(Stopped):
            train(recipe(), tmp_path / "run")
    assert train(recipe(), tmp_path / "run", resume=True).metrics["training"]["steps"] == 9
