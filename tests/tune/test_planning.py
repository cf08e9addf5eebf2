"""What a duration holds: steps, and what every training costs besides."""

import pytest

from regard.training.preparation import Prepared
from regard.tune import planning
from regard.tune.halving import FINALISTS, make_plan
from regard.tune.planning import Overhead, _convert, _time_overhead

OWN = 90


@pytest.mark.parametrize("overhead", [Overhead(0.0, 0.0), Overhead(0.7, 5.0), Overhead(0.1, 31.0)])
def test_steps_and_overhead_together_fill_the_seconds(overhead):
    seconds, pace = 300.0, 0.05
    steps = _convert(seconds, pace, overhead, OWN, None)
    plan = make_plan(steps, OWN)
    spent = steps * pace + plan.trainings * overhead.trial + FINALISTS * overhead.finish
    assert 0.9 * seconds < spent <= seconds


def test_every_evaluation_of_a_trial_and_the_baseline_are_counted(monkeypatch):
    class Training:
        keep, patience, evaluations = "best", 0, 7

    class Task:
        class recipe:  # noqa: N801
            training = Training

        def measure(self, _model, _examples, *, quick):
            now[0] += 2.0

        def fit_baseline(self, _source):
            now[0] += 31.0

    def build(*_):
        now[0] += 0.5
        return None, type("State", (), {"model": None})

    now = [100.0]
    prepared = Prepared._make([Task(), None, None, None, [], {}])
    monkeypatch.setattr(planning.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(planning, "build_training", build)
    assert _time_overhead(prepared) == Overhead(0.5 + 8 * 2.0, 10 * 2.0 + 31.0)
    Training.keep = "last"
    assert _time_overhead(prepared) == Overhead(0.5 + 2.0, 10 * 2.0 + 31.0)
