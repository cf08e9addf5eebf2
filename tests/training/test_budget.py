"""A budget, however it is said, becomes a number of steps."""

import time

import pytest

from regard.report.card import model_card
from regard.training.budget import calibrate, steps_for


def never():
    raise AssertionError("only a time needs timing")


@pytest.mark.parametrize(
    ("budget", "steps"),
    [("7 steps", 7), ("2.5 epochs", 30), ("600 tokens", 6), ("1 tokens", 1)],
)
def test_counts_become_steps(budget, steps):
    made = steps_for(budget, steps_per_epoch=12, tokens_per_epoch=1200, seconds_per_step=never)
    assert made == steps


def test_a_time_becomes_steps_by_what_one_takes():
    made = steps_for(
        "2min",
        steps_per_epoch=12,
        tokens_per_epoch=1200,
        seconds_per_step=lambda seconds: 0.5 if seconds == 12 else 0,
    )
    assert made == 240


def test_timing_takes_steps_from_all_over_the_epoch():
    taken = []
    assert calibrate(taken.append, steps_per_epoch=12, seconds=60.0) >= 0
    assert set(taken) == set(range(12))


def test_timing_stops_when_its_share_of_the_budget_is_spent():
    taken = []
    calibrate(lambda step: taken.append(step) or time.sleep(0.01), steps_per_epoch=97, seconds=0.0)
    assert len(taken) == 2  # one to warm up, one that is timed


def test_the_card_says_what_was_measured_and_how(recipe):
    measured = {
        "metrics": {"bleu": 12.345, "baseline": {"bleu": 1.5}},
        "signature": {"bleu": "tok:13a"},
        "count": 31,
        "samples": [],
    }
    training = {
        "parameters": 4321,
        "examples": 17,
        "overlong": 3,
        "steps": 5,
        "seconds": 90.0,
        "threads": 1,
        "data": "fingerprint",
    }
    metrics = {"test": measured, "training": training}
    card = model_card(recipe(), metrics, baseline="copying")
    for word in (
        "is copying",
        "4,321",
        "12.35",
        "1.50",
        "tok:13a",
        "fingerprint",
        "90 seconds",
        "| test |",
    ):
        assert word in card
