"""Scores and times are written as a person reads them."""

import pytest

from regard.tasks.scores import describe_alone, format_duration, tabulate_scores


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.31, "0.3 seconds"),
        (9.9, "9.9 seconds"),
        (10.4, "10 seconds"),
        (119.0, "119 seconds"),
        (120.0, "2.0 minutes"),
        (2_275.0, "37.9 minutes"),
    ],
)
def test_a_duration_is_written_in_seconds_up_to_two_minutes(seconds, written):
    assert format_duration(seconds) == written


MEASURED = {
    "metrics": {
        "accuracy": 0.873,
        "loss": 0.41,
        "baseline": {"accuracy": 0.8},
        "together": {"accuracy": 0.881, "loss": 0.4},
    },
    "details": {"alone": {"network": 0.873, "bag": 0.8}},
}


def test_a_splits_scores_are_one_table():
    rows = tabulate_scores(MEASURED)
    assert rows == [
        ("accuracy", 0.873, 0.8, 0.881, {"network": 0.873, "bag": 0.8}),
        ("loss", 0.41, None, 0.4, {}),
    ]
    assert rows[0].format() == {"model": "87.3%", "baseline": "80.0%", "together": "88.1%"}
    assert rows[1].format() == {"model": "0.410", "together": "0.400"}
    assert rows[0].format_alone() == "network 87.3%, bag 80.0%"


def test_a_baseline_of_zero_is_a_score():
    (row,) = tabulate_scores({"metrics": {"accuracy": 0.5, "baseline": {"accuracy": 0.0}}})
    assert row.format() == {"model": "50.0%", "baseline": "0.0%"}


def test_members_are_described_only_where_several_answer():
    assert describe_alone(MEASURED).endswith("accuracy alone: network 87.3%, bag 80.0%.")
    assert describe_alone({"metrics": {"loss": 1.0, "baseline": {}}}) == ""
