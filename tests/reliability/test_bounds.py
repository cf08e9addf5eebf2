"""The bounds themselves: work that breaks them fails, and other work does not."""

import signal
import time

from regard.errors import DataError

from .bounds import OURS, within


def refuse():
    raise DataError("a rule was broken", "do this")


def work_on():
    while True:
        sum(range(10_000))


def test_work_within_its_bounds_ends_as_it_ends():
    assert within(lambda: None).code == 0
    assert within(lambda: bytearray(100_000_000), megabytes=200).code == 0
    assert within(refuse) == (OURS, "a rule was broken\ndo this")
    assert "ZeroDivisionError" in within(lambda: 1 / 0).said


def test_work_that_takes_too_long_or_too_much_is_ended():
    assert within(work_on, seconds=1).code == -signal.SIGPROF
    assert "MemoryError" in within(lambda: bytearray(3_000_000_000), megabytes=200).said


def test_work_that_waits_for_ever_is_ended():
    begin = time.monotonic()
    assert within(lambda: time.sleep(99), seconds=1).code == -signal.SIGALRM
    assert time.monotonic() - begin < 60
