"""Training: a run folder that is whole, the same bits for the same recipe, resumed or not."""

import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import weakref
from hashlib import sha256

import pytest
from safetensors import SafetensorError

from regard.errors import DataError, DiskError, RunError, Stopped, TrainingError, UsageError
from regard.recipe.load import make
from regard.run import Run
from regard.run_files import read_journal
from regard.tasks.task import Sample
from regard.training import checkpoint, loop
from regard.training.loop import spread_steps
from regard.training.train import train
from regard.training.watcher import SilentWatcher

MUON = {"optimizer": {"kind": "muon"}}


def bits(run):
    return sha256((run.folder / "model.safetensors").read_bytes()).hexdigest()


class StopAt(SilentWatcher):
    """Raises a signal in the middle of a training."""

    def __init__(self, step, act):
        self.at, self.act = step, act

    def step(self, progress):
        if progress.step == self.at:
            self.act()


class Killed(BaseException):
    """Stands for a process that ends without a word."""


def kill():
    raise Killed


def test_a_run_folder_holds_everything(recipe, tmp_path):
    run = train(recipe(), tmp_path / "run")
    names = {file.name for file in run.folder.iterdir()}
    assert names == {
        "recipe.toml",
        "tokenizer.json",
        "model.safetensors",
        "config.json",
        "journal.jsonl",
        "metrics.json",
        "answers.jsonl",
        "README.md",
        "regard.json",
        "checkpoints",
    }
    assert run.summary["steps"] == 9
    assert set(run.summary["metrics"]) == {"bleu", "chrf", "baseline"}
    assert "tok:13a" in run.summary["signature"]["bleu"]
    assert run.recipe == recipe()


def test_the_same_recipe_gives_the_same_bits_and_another_seed_others(recipe, tmp_path):
    first = bits(train(recipe(), tmp_path / "a"))
    assert bits(train(recipe(), tmp_path / "b")) == first
    assert bits(train(recipe(seed=2), tmp_path / "c")) != first


@pytest.mark.parametrize("stopped_after", [1, 3, 4, 8])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"training": MUON},
        {"training": {"shards": 2, "ema": 0.9}},
        {"training": {"keep": "best"}, "text": {"dropout": 0.2}},
        {"training": {"average": 2}},
        {"training": {"shards": 2}, "model": {"embedding": {"ngrams": 3, "ngram_lazy": True}}},
    ],
    ids=["adamw", "muon", "shards and ema", "best and bpe-dropout", "average", "rows alone"],
)
def test_a_killed_run_resumes_to_the_same_bits(recipe, tmp_path, changes, stopped_after):
    merged = {
        **changes,
        "training": {**recipe().training.model_dump(), **changes.get("training", {})},
    }
    made = recipe(**merged)
    undisturbed = train(made, tmp_path / "undisturbed")
    with pytest.raises(Killed):
        train(made, tmp_path / "killed", watcher=StopAt(stopped_after, kill))
    resumed = train(made, tmp_path / "killed", resume=True)
    assert bits(resumed) == bits(undisturbed)
    assert (
        resumed.metrics["test" if "test" in resumed.metrics else "valid"]
        == undisturbed.metrics["test" if "test" in undisturbed.metrics else "valid"]
    )


def test_a_signal_lets_the_step_finish_and_saves(recipe, tmp_path):
    undisturbed = train(recipe(), tmp_path / "undisturbed")
    act = lambda: os.kill(os.getpid(), signal.SIGTERM)  # noqa: E731
    with pytest.raises(Stopped) as caught:
        train(recipe(), tmp_path / "run", watcher=StopAt(4, act))
    assert caught.value.exit_code == 143
    newest = checkpoint.newest(tmp_path / "run" / "checkpoints", print)
    assert checkpoint.load(newest).state["step"] in (4, 5)
    assert bits(train(recipe(), tmp_path / "run", resume=True)) == bits(undisturbed)


def test_shards_change_nothing_but_the_rounding(recipe, tmp_path):
    plain = recipe(model={**recipe().model.model_dump(), "dropout": 0.0})
    sharded = recipe(
        model={**recipe().model.model_dump(), "dropout": 0.0},
        training={**recipe().training.model_dump(), "shards": 4},
    )
    one, four = train(plain, tmp_path / "one"), train(sharded, tmp_path / "four")
    for (name, a), (_, b) in zip(
        one.model.named_parameters(), four.model.named_parameters(), strict=True
    ):
        assert a.allclose(b, atol=2e-4), name


def test_a_changed_recipe_is_refused_with_the_field_named(recipe, tmp_path):
    with pytest.raises(Killed):
        train(recipe(), tmp_path / "run", watcher=StopAt(5, kill))
    changed = recipe(training={**recipe().training.model_dump(), "label_smoothing": 0.2})
    with pytest.raises(UsageError, match=r"training.label_smoothing was 0.1; now it is 0.2"):
        train(changed, tmp_path / "run", resume=True)
    assert bits(train(recipe(), tmp_path / "run", resume=True))


def test_threads_are_as_many_as_the_machines_user_said_where_the_recipe_says_nothing():
    asked = "from regard.training.train import ALL_THREADS; print(ALL_THREADS)"
    result = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "1"


def test_a_recipe_without_threads_takes_all(recipe, tmp_path, monkeypatch):
    monkeypatch.setattr("regard.training.train.ALL_THREADS", 1)
    free = recipe(training={**recipe().training.model_dump(), "threads": 0})
    run = train(free, tmp_path / "run")
    result = json.loads((run.folder / "metrics.json").read_text())
    assert result["training"]["threads"] == 1


def test_the_number_of_threads_is_part_of_a_run_and_can_be_given_back(recipe, tmp_path):
    settings = recipe().training.model_dump()
    one, two = ({**settings, "threads": number} for number in (1, 2))
    with pytest.raises(Killed):
        train(recipe(training=one), tmp_path / "run", watcher=StopAt(5, kill))
    with pytest.raises(UsageError, match=r"training.threads was 1; now it is 2"):
        train(recipe(training=two), tmp_path / "run", resume=True)
    train(recipe(training=one), tmp_path / "run", resume=True)


def test_pieces_that_no_longer_fit_the_model_are_left_as_they_were(recipe, tmp_path):
    tables = {"text": {"dropout": 0.9, "max_length": 7}, "model": recipe().model.model_dump()}
    tables["model"]["position"] = {"kind": "learned", "positions": 7}
    assert train(recipe(**tables), tmp_path / "run").summary["steps"] == 9


def test_changed_data_is_refused(recipe, tmp_path):
    with pytest.raises(Killed):
        train(recipe(), tmp_path / "run", watcher=StopAt(5, kill))
    for side in "xy":
        with (tmp_path / f"train.{side}").open("a") as file:
            file.write("a g m\n")
    with pytest.raises(UsageError, match=r"data was .*; now it is"):
        train(recipe(), tmp_path / "run", resume=True)


def test_a_run_folder_that_exists_is_refused_and_left_alone(recipe, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists") as caught:
        train(recipe(), tmp_path / "run")
    assert "--resume" in caught.value.remedy
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["mine.txt"]


def test_bad_data_leaves_no_folder_behind(recipe, tmp_path):
    (tmp_path / "train.y").write_text("one line only\n")
    with pytest.raises(Exception, match=r"train\.[xy]"):
        train(recipe(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_not_resumed(recipe, tmp_path):
    train(recipe(), tmp_path / "run")
    with pytest.raises(UsageError, match="finished"):
        train(recipe(), tmp_path / "run", resume=True)


def with_budget(recipe, budget):
    return recipe(training={**recipe().training.model_dump(), "budget": budget})


@pytest.mark.parametrize("finished", [False, True])
def test_a_run_is_trained_longer_with_a_larger_budget(recipe, tmp_path, finished):
    said = []
    if finished:
        train(recipe(), tmp_path / "run")
    else:
        with pytest.raises(Killed):
            train(recipe(), tmp_path / "run", watcher=StopAt(5, kill))
    watcher = StopAt(-1, kill)
    watcher.say = said.append
    run = train(with_budget(recipe, "13 steps"), tmp_path / "run", resume=True, watcher=watcher)
    assert run.summary["steps"] == 13 and run.recipe.training.budget == "13 steps"
    assert "13 steps instead of 9: the learning rate follows the new number" in said
    assert [line["step"] for line in run.journal if line["event"] == "evaluation"][-1] == 13


def test_a_run_is_not_trained_shorter_and_stays_whole(recipe, tmp_path):
    before = bits(train(recipe(), tmp_path / "run"))
    with pytest.raises(UsageError, match=r"only be trained longer.*9 steps\); 7 steps is 7 steps"):
        train(with_budget(recipe, "7 steps"), tmp_path / "run", resume=True)
    assert bits(Run(tmp_path / "run")) == before


def test_a_finished_run_without_checkpoints_is_not_trained_longer(recipe, tmp_path):
    train(recipe(), tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    with pytest.raises(UsageError, match="without checkpoints"):
        train(with_budget(recipe, "13 steps"), tmp_path / "run", resume=True)


def test_files_have_the_mode_that_the_umask_asks_for(recipe, tmp_path):
    run = train(recipe(), tmp_path / "run")
    modes = {oct(file.stat().st_mode) for file in run.folder.rglob("*") if file.is_file()}
    assert modes == {oct((run.folder / "metrics.json").stat().st_mode)}


def test_two_processes_do_not_write_one_run(recipe, tmp_path):
    def again():
        with pytest.raises(UsageError, match="one process at a time"):
            train(recipe(), tmp_path / "run", resume=True)

    train(recipe(), tmp_path / "run", watcher=StopAt(2, again))


def test_the_journal_tells_every_step_once_after_a_resumption(recipe, tmp_path):
    with pytest.raises(Killed):
        train(recipe(), tmp_path / "run", watcher=StopAt(8, kill))
    train(recipe(), tmp_path / "run", resume=True)
    result = [
        line["step"]
        for line in read_journal(tmp_path / "run" / "journal.jsonl")
        if line["event"] == "evaluation"
    ]
    assert result == sorted(set(result))


def test_the_journal_has_the_tokens_read_and_samples_of_every_evaluation(recipe, tmp_path):
    run = train(recipe(), tmp_path / "run")
    evaluations = [line for line in run.journal if line["event"] == "evaluation"]
    tokens = [line["tokens"] for line in evaluations]
    assert 0 < tokens[0] < tokens[-1] == run.metrics["training"]["tokens"]
    asked = [[sample["asked"] for sample in line["samples"]] for line in evaluations]
    assert len(asked[0]) == 3 and all(texts == asked[0] for texts in asked)


def test_a_long_sample_is_cut_with_a_mark():
    cut = loop._shorten(Sample("a" * 700, "b", "c"))
    assert cut == {"asked": "a" * 500 + "…", "expected": "b", "answered": "c"}


def test_patience_ends_a_training_that_no_longer_gets_better(recipe, tmp_path):
    made = recipe(
        training={
            **recipe().training.model_dump(),
            "budget": "40 steps",
            "evaluations": 40,
            "patience": 2,
            "optimizer": {"kind": "adamw", "rate": 1e-12},
        }
    )
    assert train(made, tmp_path / "run").summary["steps"] == 3


def test_a_loss_that_is_no_number_stops_with_the_examples_named(recipe, tmp_path, monkeypatch):
    from regard.tasks.losses import Loss
    from regard.tasks.translation import Translation

    true = Translation.loss

    def poisoned(self, model, batch):
        lost = true(self, model, batch)
        return Loss(lost.smoothed * float("nan"), float("nan"), lost.tokens)

    monkeypatch.setattr(Translation, "loss", poisoned)
    with pytest.raises(TrainingError, match="examples"):
        train(recipe(), tmp_path / "run")
    for folder in checkpoint.checkpoints(tmp_path / "run" / "checkpoints"):
        for tensors in checkpoint.load(folder).tensors.values():
            assert all(tensor.isfinite().all() for tensor in tensors.values())


def test_a_full_disk_has_its_own_message_and_exit_code(recipe, tmp_path, monkeypatch):
    def full(*_arguments, **_named):
        # What the library says when a disk is full; it is no OSError.
        raise SafetensorError("Error while serializing: I/O error: No space (os error 28)")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(DiskError, match="No space left on device") as caught:
        train(recipe(), tmp_path / "run")
    assert caught.value.exit_code == 74


def test_a_file_the_system_refuses_is_an_error_of_the_system(tmp_path):
    # The true library against a true limit: no file may grow beyond 1,000 bytes.
    code = """
import resource, signal, sys
from pathlib import Path
import torch
from regard.files import write_tensors
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_tensors(Path(sys.argv[1]), {"a": torch.zeros(997)})
except OSError as error:
    print(error.errno)
"""
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.safetensors"], capture_output=True, text=True
    )
    assert said.stdout.strip() == str(errno.EFBIG)


def test_a_time_budget_is_timed_on_a_model_that_is_then_released(recipe, tmp_path, monkeypatch):
    from regard.tasks.translation import Translation

    begun = []

    def begin(task, model, _store):
        task.learner = model  # as tasks do that ask their model while they make batches
        begun.append(weakref.ref(model))

    class LookAtModels(SilentWatcher):
        alive = None

        def step(self, progress):
            if self.alive is None:
                gc.collect()
                self.alive = [model() is not None for model in begun]

    monkeypatch.setattr(Translation, "prepare_model", begin)
    made = recipe(training={**recipe().training.model_dump(), "budget": "0.3s"})
    watcher = LookAtModels()
    train(made, tmp_path / "run", watcher=watcher)
    assert watcher.alive == [False, True]


def test_time_is_turned_into_steps_that_the_run_remembers(recipe, tmp_path):
    made = recipe(training={**recipe().training.model_dump(), "budget": "0.5s"})
    run = train(made, tmp_path / "run")
    start = json.loads((run.folder / "journal.jsonl").read_text().splitlines()[0])
    assert start["steps"] == run.summary["steps"] >= 1


@pytest.mark.parametrize(
    "name", ["model.safetensors", "tokenizer.json", "recipe.toml", "metrics.json"]
)
def test_a_file_of_another_run_is_refused(recipe, tmp_path, name):
    one, two = train(recipe(), tmp_path / "one"), train(recipe(seed=3), tmp_path / "two")
    text = {"tokenizer": "characters"}
    other = train(recipe(text=text), tmp_path / "three") if name == "tokenizer.json" else two
    (one.folder / name).write_bytes((other.folder / name).read_bytes())
    with pytest.raises(RunError, match=name):
        Run(one.folder)


def test_evaluations_are_spread_evenly_and_end_with_the_last_step():
    assert sorted(spread_steps(4, 10)) == [2, 5, 8, 10]
    assert spread_steps(10, 3) == {1, 2, 3}


def test_evaluating_before_the_first_step_changes_nothing(recipe, tmp_path):
    early = train(recipe(training={"evaluate_first": True}), tmp_path / "early")
    at = [line["step"] for line in early.journal if line["event"] == "evaluation"]
    assert at == [0, 4, 9]
    assert bits(early) == bits(train(recipe(), tmp_path / "plain"))


def test_every_answer_is_stored_with_its_reference(recipe, tmp_path):
    run = train(recipe(), tmp_path / "run")
    assert len(run.answers) == run.summary["count"]
    assert set(run.answers[0]) == {"asked", "expected", "answered", "score"}
    assert len(run.metrics["valid"]["data"]) == 64
    (run.folder / "answers.jsonl").write_text("{}")
    with pytest.raises(RunError, match="does not belong"):
        _ = Run(run.folder).answers


def test_a_single_text_of_which_nothing_is_held_out_is_refused_before_training(tmp_path):
    (tmp_path / "text.txt").write_text("the same line again and again\n" * 40)
    recipe = make({"task": "language-modelling", "data": {"train": [str(tmp_path / "text.txt")]}})
    with pytest.raises(DataError, match="no examples to evaluate on") as refused:
        train(recipe, tmp_path / "run")
    assert 'data.holdout_from = "end"' in refused.value.remedy
    assert not (tmp_path / "run").exists()
