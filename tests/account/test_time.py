import pytest

from regard.account.time import Pace, as_json, extrapolate, forecast, format_duration

PACE = Pace(step=0.5, tokens=200.0, how="steps taken here")


def test_a_deep_model_costs_what_more_blocks_cost():
    assert extrapolate(3.0, 5.0, 1) == 3.0
    assert extrapolate(3.0, 5.0, 7) == 15.0
    assert extrapolate(3.0, 2.9, 7) == 3.0  # a block never costs less than nothing


@pytest.mark.parametrize(
    ("budget", "steps", "seconds"),
    [
        ("2min", 240, 120.0),
        ("30 steps", 30, 15.0),
        ("7k tokens", 35, 17.5),
        ("0.1s", 1, 0.1),
    ],
)
def test_a_budget_becomes_steps_and_time(budget, steps, seconds):
    assert forecast(budget, PACE) == (steps, pytest.approx(seconds))


def test_epochs_need_the_data():
    assert forecast("3 epochs", PACE) == (None, None)
    assert forecast("3 epochs", PACE._replace(steps_per_epoch=11)) == (33, 16.5)


def test_scripts_get_rate_and_budget():
    found = as_json("30 steps", PACE)
    assert found["step"] == 0.5
    assert found["tokens_per_second"] == 400
    assert (found["steps"], found["budget"]) == (30, 15.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.25, "0.25 s"),
        (90, "90 s"),
        (150.0, "2.5 minutes"),
        (9000.0, "2.5 hours"),
        (1e9, "31.7 years"),
    ],
)
def test_durations_are_readable(seconds, words):
    assert format_duration(float(seconds)) == words
