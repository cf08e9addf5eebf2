"""Gaps in documents: how much is taken out, and that it can be put back."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.gaps import mask_sentences, mask_spans
from regard.text.special import MASK

IDS = st.lists(st.integers(7, 40), max_size=60)


def rng(*key):
    return np.random.default_rng([13, *key])


def is_within(kept, ids):
    """Whether ``kept`` stands in ``ids`` in order."""
    rest = iter(ids)
    return all(one in rest for one in kept)


@given(IDS, st.floats(0.01, 0.99), st.floats(0.5, 5.0), st.integers(0, 99))
def test_spans_leave_the_share_that_is_wanted_and_the_whole_is_the_target(ids, share, mean, seed):
    shown, target = mask_spans(ids, share=share, mean=mean, rng=rng(seed))
    assert target == ids
    kept = [one for one in shown if one != MASK]
    assert is_within(kept, ids)
    taken = len(ids) - len(kept)
    assert np.floor(share * len(ids)) <= taken <= np.floor(share * len(ids)) + 1
    assert mask_spans(ids, share=share, mean=mean, rng=rng(seed)).shown == shown


def test_spans_are_as_long_as_they_should_be_and_stand_anywhere():
    ids, counts, firsts = list(range(7, 307)), [], set()
    for seed in range(200):
        shown, _ = mask_spans(ids, share=0.3, mean=3.0, rng=rng(seed))
        counts.append(shown.count(MASK))
        firsts.add(shown.index(MASK))
    # 90 tokens in spans of 3 on average, those of none among them
    assert 28 < np.mean(counts) < 34
    assert len(firsts) > 20


@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=9), st.floats(0.01, 0.99), st.integers(0, 99)
)
def test_sentences_are_taken_whole_and_can_be_put_back(lengths, share, seed):
    ids = list(range(7, 7 + sum(lengths)))
    shown, target = mask_sentences(ids, lengths, share=share, rng=rng(seed))
    taken = shown.count(MASK)
    assert 1 <= taken < len(lengths)
    assert abs(taken - share * len(lengths)) <= 1 or taken in (1, len(lengths) - 1)
    assert sorted([*(one for one in shown if one != MASK), *target]) == ids
    ends = np.cumsum([0, *lengths])
    sentences = [ids[a:b] for a, b in pairwise(ends)]
    assert target == [one for each in sentences if each[0] in target for one in each]


def test_every_sentence_is_taken_some_time():
    taken = {
        mask_sentences([7, 8, 9], [1, 1, 1], share=0.3, rng=rng(n)).target[0] for n in range(50)
    }
    assert taken == {7, 8, 9}


@pytest.mark.parametrize("ids", [[], [7]])
def test_almost_nothing_may_be_all_there_is(ids):
    assert mask_spans(ids, share=0.3, mean=3.0, rng=rng(1)).target == ids
