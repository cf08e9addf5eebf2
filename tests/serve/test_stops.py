"""Stop strings cut a text as if it came letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.serve.stops import StopFilter

LETTERS = "ab\n"
STOPS = st.lists(st.text(LETTERS, min_size=1, max_size=5), max_size=4)


def cut_by_hand(text, stops):
    for end in range(1, len(text) + 1):
        ended = [stop for stop in stops if text[:end].endswith(stop)]
        if ended:
            return text[: end - max(map(len, ended))], True
    return text, False


@given(pieces=st.lists(st.text(LETTERS, max_size=7), max_size=11), stops=STOPS)
def test_the_text_is_cut_where_the_first_stop_string_is_complete(pieces, stops):
    found = StopFilter(stops)
    passed = "".join(found.add(piece) for piece in pieces)
    assert (passed + found.end(), found.stopped) == cut_by_hand("".join(pieces), stops)


@given(text=st.text(LETTERS, max_size=23), stops=STOPS)
def test_nothing_is_held_back_that_no_stop_string_can_take(text, stops):
    found, passed = StopFilter(stops), ""
    for letter in text:
        passed += found.add(letter)
        if found.stopped:
            assert found.held == 0
            return
        assert found.held == len(text[: len(passed) + found.held]) - len(passed)
        tail = text[len(passed) : len(passed) + found.held]
        assert not tail or any(stop.startswith(tail) and stop != tail for stop in stops)


@pytest.mark.parametrize(
    ("stops", "pieces", "expected"),
    [
        (["\n\n"], ["one\n", "two\n", "\nthree"], ["one", "\ntwo", ""]),
        (["abc", "b"], ["a", "b", "c"], ["", "a", ""]),
        ([], ["a", "b"], ["a", "b"]),
    ],
)
def test_what_may_become_a_stop_string_waits(stops, pieces, expected):
    found = StopFilter(stops)
    assert [found.add(piece) for piece in pieces] == expected
