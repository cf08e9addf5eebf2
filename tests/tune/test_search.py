"""A search: the same plan gives the same winner, stopped or not, within its limits."""

import json
import os
import signal
from hashlib import sha256

import pytest

from regard.errors import TrainingError, UsageError
from regard.recipe.load import load
from regard.run import Run
from regard.tasks.kinds import KINDS
from regard.tune import search as searching
from regard.tune.planning import Options
from regard.tune.search import tune
from regard.tune.trials import DONE, FAILED, LEFT_OUT

SMALL = Options(duration="54 steps", trials=4)
SLOW = {"translation", "summarization", "denoising", "retrieval", "document-vectors"}
SLOW |= {"masked-pretraining", "document-pretraining", "language-modelling", "sentence-pair"}


class Killed(BaseException):
    """Stands for a process that ends without a word."""


def kill():
    raise Killed


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def same(records):
    """Return what two equal searches have in common: all but the seconds."""
    return [record._replace(seconds=0.0) for record in records]


def finished(outcome):
    return [record for record in outcome.records if record.status != LEFT_OUT]


def bits(outcome):
    model = outcome.folder / "runs" / str(outcome.winner.trial) / "model.safetensors"
    return sha256(model.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW)) for k in KINDS]
)
def test_every_task_can_be_tuned(kind, recipe, watch, tmp_path):
    outcome = tune(recipe(kind), tmp_path / "search", SMALL, watch())
    assert outcome.winner.status == DONE and outcome.winner.rung == outcome.plan.last
    last = [record for record in finished(outcome) if record.rung == outcome.plan.last]
    finalists = [record.trial for record in last]
    assert finalists[0] == 0 and len(finalists) > 1
    assert outcome.split["search"] and outcome.split["judgement"]
    assert len(outcome.verdicts) >= 1
    assert "chance" in outcome.verdicts[0].words or "the same" in outcome.verdicts[0].words
    outcome.write_recipe()
    found = load(tmp_path / "search" / "recipe.toml")
    assert found.training.budget == "9 steps"
    assert found.model == outcome.recipes[outcome.winner.trial].model
    run = Run(tmp_path / "search" / "runs" / str(outcome.winner.trial))
    assert run.recipe.model == found.model


def test_the_same_plan_gives_the_same_winner_to_the_bit(recipe, watch, tmp_path):
    first, second = (
        tune(recipe(), tmp_path / name, SMALL, watch()) for name in ("first", "second")
    )
    assert same(first.records) == same(second.records)
    assert first.winner.trial == second.winner.trial and bits(first) == bits(second)
    assert [v.as_json() for v in first.verdicts] == [v.as_json() for v in second.verdicts]
    other = tune(recipe(), tmp_path / "other", SMALL._replace(seed=2), watch())
    assert same(other.records) != same(first.records)


def test_a_search_that_was_killed_continues_to_the_same_end(recipe, watch, tmp_path):
    peace = tune(recipe(), tmp_path / "peace", SMALL, watch())
    folder = tmp_path / "killed"
    trainings = len(finished(peace))
    for after in range(1, trainings + 1):
        with pytest.raises(Killed):
            tune(recipe(), folder, SMALL, watch(after=after, act=kill), resume=folder.exists())
        with (folder / "trials.jsonl").open("a") as file:
            file.write('{"trial": 99, "ru')  # a line cut short
    # The options of a resumed search are its plan's.
    resumed = tune(recipe(), folder, Options(duration="999 steps"), watch(), resume=True)
    assert same(resumed.records) == same(peace.records)
    assert resumed.winner.trial == peace.winner.trial and bits(resumed) == bits(peace)
    assert resumed.plan == peace.plan


def test_a_finalist_that_was_killed_is_resumed(recipe, watch, tmp_path):
    changed = recipe("classification", "training.checkpoints=9")
    peace = tune(changed, tmp_path / "peace", SMALL, watch())
    seen = watch()
    tune(changed, tmp_path / "count", SMALL, seen)
    # In the middle of the last training, after some of its checkpoints.
    with pytest.raises(Killed):
        tune(changed, tmp_path / "k", SMALL, watch(steps=len(seen.standings) - 4, act=kill))
    unfinished = [f for f in (tmp_path / "k/runs").iterdir() if not (f / "regard.json").exists()]
    assert len(unfinished) == 1 and any((unfinished[0] / "checkpoints").iterdir())
    resumed = tune(changed, tmp_path / "k", SMALL, watch(), resume=True)
    assert bits(resumed) == bits(peace) and same(resumed.records) == same(peace.records)


def test_an_interrupt_keeps_the_best_so_far(recipe, watch, tmp_path):
    stopped = tune(recipe(), tmp_path / "s", SMALL, watch(after=3, act=interrupt))
    assert stopped.interrupted and len(finished(stopped)) == 3
    assert stopped.winner.score == max(record.score for record in finished(stopped))
    assert stopped.write_recipe().is_file() and not stopped.verdicts
    again = tune(recipe(), tmp_path / "s", SMALL, watch(), resume=True)
    assert not again.interrupted and again.verdicts
    in_step = tune(recipe(), tmp_path / "t", SMALL, watch(steps=2, act=interrupt))
    assert in_step.interrupted and in_step.winner is None and in_step.write_recipe() is None


def test_a_failed_trial_is_recorded_and_not_the_end(recipe, watch, tmp_path, monkeypatch):
    real, errors = searching.run_trial, [TrainingError("NaN", ""), MemoryError()]

    def fail(*given):
        if errors:
            raise errors.pop()
        return real(*given)

    monkeypatch.setattr(searching, "run_trial", fail)
    outcome = tune(recipe(), tmp_path / "s", SMALL, watch())
    failed = [record.problem for record in outcome.records if record.status == FAILED]
    assert failed == ["there was not enough memory", "the loss is NaN or infinite"]
    assert outcome.winner.status == DONE
    assert 0 not in {record.trial for record in outcome.records if record.rung}

    def break_down(*_given):
        raise ZeroDivisionError

    monkeypatch.setattr(searching, "run_trial", break_down)
    with pytest.raises(ZeroDivisionError):
        tune(recipe(), tmp_path / "broken", SMALL, watch())


def test_a_size_limit_holds_for_every_winner(recipe, watch, tmp_path):
    free = tune(recipe(), tmp_path / "free", SMALL._replace(trials=9), watch())
    sizes = {record.trial: record.bytes for record in free.records if record.bytes}
    limit = sorted(sizes.values())[len(sizes) // 2]
    seen = watch()
    held = tune(recipe(), tmp_path / "held", SMALL._replace(trials=9, size=limit), seen)
    model = tmp_path / "held" / "runs" / str(held.winner.trial) / "model.safetensors"
    assert model.stat().st_size == held.winner.bytes <= limit
    assert all(record.bytes <= limit for record in held.records if record.status == DONE)
    left_out = [record for record in held.records if record.status == LEFT_OUT]
    assert any("model file" in record.problem for record in left_out)
    assert any("left out" in message for message in seen.said)
    with pytest.raises(UsageError, match="fits the limits"):
        tune(recipe(), tmp_path / "none", SMALL._replace(size=100), watch())


def test_a_wall_time_is_converted_once(recipe, watch, tmp_path):
    outcome = tune(recipe(), tmp_path / "s", Options(duration="30s", trials=3), watch())
    plan = json.loads((tmp_path / "s" / "plan.json").read_text())
    assert plan["plan"]["steps"] == outcome.plan.steps > 54
    assert outcome.plan.longest == 9
    # The same number of steps, without a clock, is the same search.
    steps = Options(duration=f"{outcome.plan.steps} steps", trials=3)
    assert same(tune(recipe(), tmp_path / "t", steps, watch()).records) == same(outcome.records)


def test_too_short_a_duration_is_refused_and_leaves_nothing(recipe, watch, tmp_path):
    with pytest.raises(UsageError, match="at least 54 steps"):
        tune(recipe(), tmp_path / "s", Options(duration="53 steps"), watch())
    assert not (tmp_path / "s").exists()


def test_a_resumed_search_has_the_same_recipe_and_data(recipe, watch, tmp_path):
    with pytest.raises(UsageError, match="nothing to resume"):
        tune(recipe(), tmp_path / "s", SMALL, watch(), resume=True)
    tune(recipe(), tmp_path / "s", SMALL, watch(after=1, act=interrupt))
    with pytest.raises(UsageError, match="must be new"):
        tune(recipe(), tmp_path / "s", SMALL, watch())
    changed = recipe("classification", "model.dropout=0.3")
    with pytest.raises(UsageError, match="recipe has changed"):
        tune(changed, tmp_path / "s", SMALL, watch(), resume=True)
