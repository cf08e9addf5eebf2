"""Visibility, drawn: a row is a query, a column is a key, ■ is visible and · is not."""

from inspect import cleandoc

import torch

from regard.layers.visibility import causal, every, local, padding, within


def picture(visible):
    rows = visible.squeeze((0, 1)).tolist()
    return "\n".join(" ".join("■" if seen else "·" for seen in row) for row in rows)


def test_causal_hides_the_future_and_seats_the_last_query_at_the_last_key():
    assert picture(causal(3, 5)) == cleandoc("""
        ■ ■ ■ · ·
        ■ ■ ■ ■ ·
        ■ ■ ■ ■ ■
    """)


def test_local_hides_what_is_far_on_either_side():
    assert picture(local(5, 5, window=1)) == cleandoc("""
        ■ ■ · · ·
        ■ ■ ■ · ·
        · ■ ■ ■ ·
        · · ■ ■ ■
        · · · ■ ■
    """)


def test_rules_combine():
    assert picture(
        causal(4, 4) & local(4, 4, window=1) & padding(torch.tensor([3]), 4)
    ) == cleandoc("""
        ■ · · ·
        ■ ■ · ·
        · ■ ■ ·
        · · ■ ·
    """)


def test_several_rules_make_one_rule():
    both = every(causal, within(1))
    assert picture(both(3, 4)) == cleandoc("""
        ■ ■ · ·
        · ■ ■ ·
        · · ■ ■
    """)
    assert picture(every(within(2))(3, 3)) == picture(local(3, 3, window=2))
