"""The plan: a duration becomes a number of steps, once, and is kept in ``plan.json``.

    seconds(n steps) = n · seconds per step + trainings · overhead + finalists · finishing

A duration in steps, epochs or tokens of the recipe itself needs no clock at all.
"""

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from regard.account.limits import memory_free
from regard.errors import UsageError
from regard.files import write_whole
from regard.recipe.budget import parse_budget
from regard.training.preparation import Prepared
from regard.training.step_timing import build_training, seconds_per_step
from regard.tune.halving import FINALISTS, SHORTEST, Plan, make_plan
from regard.tune.trials import count_steps

PLAN = "plan.json"
SPARE = 0.9  # of the time and the memory, for what the timing did not see
FINISHING = 10  # evaluations that the answers and final scores of a run take
SHRINK = 0.95


class Options(NamedTuple):
    """What the user asks of a search."""

    duration: str = "20min"
    """A wall time or, as in ``training.budget``, steps, epochs or tokens of the recipe itself."""
    trials: int | None = None
    """Most trials."""
    size: int | None = None
    """Most bytes of the model file."""
    seed: int = 1


class Planned(NamedTuple):
    """Everything that decides a search, besides its recipe and data."""

    plan: Plan
    own: int
    """Steps of the recipe's own budget."""
    seed: int
    size: int | None
    memory: int | None
    """Bytes that a training may take."""


def plan_search(prepared: Prepared, options: Options, folder: Path, *, began: float) -> Planned:
    """Plan a search that began at this time of the monotonic clock; write the plan."""
    kind, amount = parse_budget(options.duration)
    own_kind, _ = parse_budget(prepared.task.recipe.training.budget)
    pace = seconds_per_step(prepared)[0] if "time" in (kind, own_kind) else 0.0
    own = count_steps(prepared, pace)
    if kind == "time":
        overhead = _time_overhead(prepared)
        seconds = SPARE * amount - (time.monotonic() - began)
        steps = _convert(max(0.0, seconds), pace, overhead, own, options.trials)
    else:
        steps = count_steps(prepared, pace, options.duration)
    plan = make_plan(steps, own, options.trials)
    if plan is None:
        raise UsageError(
            f"a search needs at least {2 * FINALISTS * min(own, SHORTEST)} steps of the recipe. "
            f"{options.duration} holds {steps}.",
            "Give a longer --duration, or begin from a smaller recipe.",
        )
    free = memory_free()
    memory = None if free is None else int(SPARE * free)
    planned = Planned(plan, own, options.seed, options.size, memory)
    facts = {**_identify(prepared), **planned._asdict(), "plan": plan._asdict()}
    write_whole(folder / PLAN, json.dumps(facts, indent=1))
    return planned


def read_plan(prepared: Prepared, folder: Path) -> Planned | None:
    """Read the plan of a search that is resumed; refuse another recipe or other data."""
    if not (folder / PLAN).exists():
        return None
    facts = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    for name, value in _identify(prepared).items():
        if facts.pop(name) != value:
            raise UsageError(
                f"a resumed search must have the same recipe and data. The {name} has changed.",
                "Change it back, or start a new search with another --output.",
            )
    return Planned(**{**facts, "plan": Plan(**facts["plan"])})


def _identify(prepared: Prepared) -> dict[str, Any]:
    """Return what must not change when a search is resumed."""
    recipe = prepared.task.recipe.flat()
    return {"recipe": recipe, "data": prepared.store.fingerprint}


class Overhead(NamedTuple):
    """Seconds besides the steps."""

    trial: float
    """To build a model and evaluate it as often as a trial does."""
    finish: float
    """To fit the baseline and answer everything, for a finalist."""


def _time_overhead(prepared: Prepared) -> Overhead:
    """Time each part once."""
    settings = prepared.task.recipe.training
    selects = settings.keep == "best" or settings.patience
    clock = [time.perf_counter()]
    _, state = build_training(prepared.task.recipe, prepared)
    clock.append(time.perf_counter())
    prepared.task.measure(state.model, prepared.valid, quick=True)
    clock.append(time.perf_counter())
    prepared.task.fit_baseline(prepared.source)
    clock.append(time.perf_counter())
    build, evaluate, fit = (after - before for before, after in pairwise(clock))
    times = 1 + (settings.evaluations if selects else 0)
    return Overhead(build + times * evaluate, FINISHING * evaluate + fit)


def _convert(seconds: float, pace: float, overhead: Overhead, own: int, trials: int | None) -> int:
    """Return the most steps whose search takes these seconds."""
    steps = int(seconds / pace)
    while steps and (plan := make_plan(steps, own, trials)):
        besides = plan.trainings * overhead.trial + FINALISTS * overhead.finish
        if steps * pace + besides <= seconds:
            break
        steps = int(SHRINK * steps)
    return steps
