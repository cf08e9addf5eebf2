"""Successive halving: every rung keeps the best, nothing costs more than the plan, all by number."""

import math
from itertools import count, pairwise, repeat

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from regard.tune.halving import ETA, FINALISTS, LEAST, TELLING, Plan, admit, make_plan, promote

steps = some.integers(60, 100_000)
own = some.integers(1, 50_000)
relative = some.floats(0.05, 4.0)


def search(plan, costs, scores):
    """Run a whole search on given costs and scores; return the rungs and what each costs."""
    rungs = [admit(plan, costs.items())]
    for rung in range(1, plan.rungs):
        ranked = sorted(rungs[-1], key=lambda number: (-scores[number], number))
        rungs.append(promote(plan, rung, ranked, costs)[0])
    return rungs, [sum(costs[n] for n in kept) * plan.length(r) for r, kept in enumerate(rungs)]


@some.composite
def searches(draw):
    plan = make_plan(draw(steps), draw(own), draw(some.none() | some.integers(1, 40)))
    assume(plan is not None)
    size = draw(some.integers(1, 60))
    costs = draw(
        some.lists(relative.filter(lambda c: c <= plan.dearest), min_size=size, max_size=size)
    )
    scores = draw(some.lists(some.integers(0, 9), min_size=size + 1, max_size=size + 1))
    return plan, dict(enumerate([1.0, *costs])), scores


@given(searches())
def test_no_search_costs_more_than_its_plan(made):
    plan, costs, scores = made
    _, spent = search(plan, costs, scores)
    assert sum(spent) <= plan.steps * (1 + 1e-9)
    for rung, cost in enumerate(spent):
        assert cost <= plan.share(rung) * (1 + 1e-9)


@given(searches())
def test_every_rung_keeps_the_best_third_and_the_recipe_itself(made):
    plan, costs, scores = made
    rungs, _ = search(plan, costs, scores)
    for rung in range(1, plan.rungs):
        before, kept = rungs[rung - 1], rungs[rung]
        ranked = sorted(before, key=lambda number: (-scores[number], number))
        third = ranked[: max(LEAST, math.ceil(len(before) / ETA))]
        assert 0 in kept
        assert set(kept) <= {0, *third}
        dropped = [number for number in third if number not in kept]
        # Only what does not fit is dropped, though better ones were taken first.
        for number in dropped:
            better = [n for n in kept if n == 0 or ranked.index(n) < ranked.index(number)]
            cost = sum(costs[n] for n in (*better, number)) * plan.length(rung)
            assert cost > plan.share(rung)


@given(searches())
def test_the_best_trial_of_a_rung_always_continues(made):
    plan, costs, scores = made
    rungs, _ = search(plan, costs, scores)
    for before, kept in pairwise(rungs):
        best = min(before, key=lambda number: (-scores[number], number))
        if rungs.index(kept) == plan.last or costs[best] <= plan.dearest / 3:
            assert best in kept


@given(searches())
def test_a_search_is_a_function_of_its_numbers(made):
    assert search(*made) == search(*made)


@given(steps, own)
def test_a_plan_holds_three_finalists_and_as_many_trials(total, length):
    plan = make_plan(total, length)
    assume(plan is not None)
    assert plan.longest <= length
    assert plan.share(plan.last) >= FINALISTS * plan.longest
    assert sum(map(plan.share, range(plan.rungs))) == pytest.approx(total)
    assert plan.length(plan.last) == plan.longest
    assert plan.rungs == 1 or plan.share(0) >= 4 * plan.length(0)
    assert plan.rungs < 3 or plan.length(0) >= TELLING


def test_too_few_steps_are_no_plan():
    assert make_plan(53, 1000) is None
    assert make_plan(54, 1000) == Plan(54, 9)
    assert make_plan(11, 2) is None
    assert make_plan(12, 2) == Plan(12, 2)


def test_trials_are_admitted_in_their_order_while_the_share_lasts():
    plan = Plan(steps=2700, longest=270)
    assert plan.share(0) == 900 and plan.length(0) == 30
    assert admit(plan, zip(count(), repeat(1.0))) == list(range(30))
    assert admit(plan, [(0, 1.0), (3, 20.0), (4, 9.0), (7, 0.5)]) == [0, 3, 4]
    assert admit(plan._replace(trials=2), zip(count(), repeat(1.0))) == [0, 1]
    assert admit(plan, []) == []


def test_the_best_are_promoted_and_what_is_too_costly_is_named():
    plan = Plan(steps=2700, longest=270)
    assert promote(plan, 1, [5, 2, 9, 1, 0, 7], dict.fromkeys(range(10), 1.0)) == ([0, 2, 5], [])
    costs = {0: 1.0, 1: 1.0, 2: 12.0, 3: 1.0}
    assert promote(plan, 1, [2, 3, 1, 0], costs) == ([0, 3], [2])
    assert promote(plan, 2, [], {}) == ([], [])
