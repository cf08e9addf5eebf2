"""Trackers: TensorBoard's own reader sees what the journal has; others are refused if absent."""

import sys
from types import SimpleNamespace

import pytest

import regard
from regard.errors import UsageError
from regard.training import trackers
from regard.training.trackers import TRACKERS


def test_tensorboard_reads_the_curves_of_the_journal(recipe, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = regard.train(recipe(), tmp_path / "run", report_to=["tensorboard"])
    events = reader.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    journal = [line for line in run.journal if line["event"] == "evaluation"]
    (name, *_) = journal[0]["metrics"]
    found = [(event.step, event.value) for event in events.Scalars(f"valid/{name}")]
    assert [step for step, _ in found] == [line["step"] for line in journal]
    assert [value for _, value in found] == pytest.approx([e["metrics"][name] for e in journal])
    (last,) = [line for line in run.journal if line["event"] == "step"]
    (loss,) = events.Scalars("train/loss")
    assert (loss.step, loss.value) == (last["step"], pytest.approx(last["loss"]))
    (text,) = events.Tensors("recipe/text_summary")
    assert b"training.budget = 9 steps" in text.tensor_proto.string_val[0]


def test_a_run_is_the_same_with_a_tracker(recipe, tmp_path):
    plain = regard.train(recipe(), tmp_path / "plain")
    tracked = regard.train(recipe(), tmp_path / "tracked", report_to=["tensorboard"])
    same = ["model.safetensors", "tokenizer.json"]
    assert [plain.facts["files"][n] for n in same] == [tracked.facts["files"][n] for n in same]


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_a_tracker_that_is_not_installed_is_refused_before_training(
    recipe, tmp_path, monkeypatch, name
):
    monkeypatch.setattr(trackers, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=f"{name} is not installed") as caught:
        regard.train(recipe(), tmp_path / "run", report_to=[name])
    assert f"regard[{name}]" in caught.value.remedy and not (tmp_path / "run").exists()


def test_an_unknown_tracker_is_refused_with_the_choices(recipe, tmp_path):
    with pytest.raises(UsageError, match="neptune is not a tracker") as caught:
        regard.train(recipe(), tmp_path / "run", report_to=["neptune"])
    assert "mlflow" in caught.value.remedy


def test_wandb_is_offline_unless_its_variable_says_otherwise(recipe, tmp_path, monkeypatch):
    calls, logged, ended = [], [], []

    def init(**options):
        calls.append(options)
        return SimpleNamespace(
            log=lambda values, step: logged.append((step, values)),
            finish=lambda: ended.append(True),
        )

    monkeypatch.setattr(trackers, "find_spec", lambda _: True)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    regard.train(recipe(), tmp_path / "run", report_to=["wandb"])
    assert calls[0]["mode"] == "offline" and calls[0]["config"]["training.budget"] == "9 steps"
    assert logged[-1][0] == 9 and ended == [True]
    monkeypatch.setenv("WANDB_MODE", "online")
    regard.train(recipe(), tmp_path / "other", report_to=["wandb"])
    assert calls[1]["mode"] == "online"
