"""A difference counts only beyond what a seed alone changes."""

import pytest

from regard.claims.seeds import Seeds, exceeds, repeat_with_seeds


def test_each_seed_is_measured_once_and_in_order():
    asked = []
    found = repeat_with_seeds(lambda seed: asked.append(seed) or seed / 2, (3, 5, 7))
    assert asked == [3, 5, 7]
    assert found == Seeds((1.5, 2.5, 3.5))
    assert (found.mean, found.spread) == (2.5, 2.0)


@pytest.mark.parametrize(
    ("one", "other", "counts"),
    [
        ((5.0, 5.2), (4.0, 4.1), True),
        ((4.0, 4.1), (5.0, 5.2), False),
        ((5.0, 5.0), (5.0, 5.0), False),
        ((5.0, 6.0), (4.8, 4.9), False),
        ((5.3, 5.4), (4.5, 5.3), False),
    ],
)
def test_one_is_above_another_only_beyond_the_larger_spread(one, other, counts):
    assert exceeds(Seeds(one), Seeds(other)) == counts
