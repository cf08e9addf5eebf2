"""Which part of a long text is read."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.labelling.overlong import draw_window, head, head_tail, windows


def test_head_and_tail_share_the_room_one_to_three():
    ids = list(range(101))
    assert head(ids, 11) == ids[:11]
    assert head_tail(ids, 12) == [0, 1, 2, *range(92, 101)]
    assert head_tail(ids[:12], 12) == ids[:12]


@given(st.integers(0, 97), st.integers(1, 13))
def test_windows_cover_every_token_with_the_fewest_pieces(length, most):
    ids = list(range(length))
    found = windows(ids, most)
    assert {id for window in found for id in window} == set(ids)
    assert len(found) == max(1, -(-length // most))
    assert all(len(window) == min(most, length) for window in found)


def test_a_drawn_piece_may_come_from_anywhere():
    rng = np.random.default_rng(0)
    found = {tuple(draw_window(list(range(7)), 3, rng)) for _ in range(200)}
    assert found == {(n, n + 1, n + 2) for n in range(5)}
    assert draw_window([1, 2], 3, rng) == [1, 2]
