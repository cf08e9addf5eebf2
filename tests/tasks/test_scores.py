"""Scores and times are written as a person reads them."""

import pytest

from regard.tasks.scores import lasted


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.31, "0.3 seconds"),
        (9.9, "9.9 seconds"),
        (10.4, "10 seconds"),
        (119.0, "119 seconds"),
        (120.0, "2.0 minutes"),
        (2_275.0, "37.9 minutes"),
    ],
)
def test_a_time_is_told_in_seconds_while_they_can_be_counted(seconds, told):
    assert lasted(seconds) == told
