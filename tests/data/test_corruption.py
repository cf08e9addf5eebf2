"""Masking is a pure function of its generator, never touches special tokens, and hits its shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.corruption import (
    choose_tokens,
    choose_words,
    corrupt,
    find_maskable,
    keep_unchosen,
)
from regard.text.special import CLS, MASK, PAD, SEP, SPECIAL

TOKENS = 97


def rows(count=211, positions=53, seed=3):
    rng = np.random.default_rng(seed)
    ids = rng.integers(len(SPECIAL), TOKENS, size=(count, positions))
    ids[:, 0], ids[:, -2], ids[:, -1] = CLS, SEP, PAD
    return ids


def within(share, expected, count):
    """Four standard deviations of a binomial share."""
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / count)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.75])
def test_about_the_share_is_chosen_and_evenly_over_the_places(share):
    ids = rows()
    chosen = choose_tokens(find_maskable(ids), share=share, rng=np.random.default_rng(5))
    free = chosen[:, 1:-2]
    assert within(free.mean(), share, free.size)
    assert all(within(column.mean(), share, len(ids)) for column in free.T)
    # A row differs from the share by less than one token: no row is masked much more than others.
    assert np.abs(free.sum(axis=1) - share * free.shape[1]).max() < 1


def test_special_tokens_are_never_chosen():
    ids = rows()
    begins = np.ones(TOKENS, dtype=bool)
    for seed in range(7):
        rng = np.random.default_rng(seed)
        assert not choose_tokens(find_maskable(ids), share=0.9, rng=rng)[:, [0, -2, -1]].any()
        assert not choose_words(ids, begins, share=0.9, rng=rng)[:, [0, -2, -1]].any()


def test_every_row_with_something_to_choose_has_a_place_and_no_other_row():
    ids = rows(positions=5, count=300)  # two free places: 15% of them is far less than one
    ids[0] = PAD
    begins = np.zeros(TOKENS, dtype=bool)
    for chosen in (
        choose_tokens(find_maskable(ids), share=0.15, rng=np.random.default_rng(1)),
        choose_words(ids, begins, share=0.15, rng=np.random.default_rng(1)),
    ):
        assert chosen[1:].any(axis=1).all()
        assert not chosen[0].any()


def test_the_chosen_become_masks_random_tokens_or_stay_in_their_shares():
    ids = rows(count=997)
    rng = np.random.default_rng(7)
    chosen = choose_tokens(find_maskable(ids), share=0.5, rng=rng)
    shown = corrupt(ids, chosen, masked_as=(0.7, 0.2, 0.1), tokens=TOKENS, rng=rng)
    assert (shown[~chosen] == ids[~chosen]).all()
    count, before, after = chosen.sum(), ids[chosen], shown[chosen]
    assert within((after == MASK).mean(), 0.7, count)
    by_chance = 0.2 / (TOKENS - len(SPECIAL))  # a random token may be the same one
    assert within((after == before).mean(), 0.1 + by_chance, count)
    others = after[(after != MASK) & (after != before)]
    assert others.min() >= len(SPECIAL)
    assert len(np.unique(others)) == TOKENS - len(SPECIAL)


def test_equal_generators_give_equal_masks_and_others_do_not():
    free = find_maskable(rows())
    one, same, other = (
        choose_tokens(free, share=0.15, rng=np.random.default_rng(s)) for s in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


def words_of(row, begins):
    """Slices of a row that are words; special tokens are none."""
    found, start = [], None
    for at, id in enumerate([*row, PAD]):
        ended = id < len(SPECIAL) or begins[id]
        if start is not None and ended:
            found.append(slice(start, at))
            start = None
        if id >= len(SPECIAL) and start is None:
            start = at
    return found


@given(st.integers(0, 2**32), st.sampled_from([0.15, 0.4, 0.8]))
def test_words_are_chosen_whole_or_not_at_all(seed, share):
    rng = np.random.default_rng(seed)
    ids, begins = rows(count=7, positions=23, seed=seed), rng.random(TOKENS) < 0.6
    ids[:, 11] = SEP  # a word ends before a special token, even where the next continues one
    chosen = choose_words(ids, begins, share=share, rng=rng)
    for row, mask in zip(ids, chosen, strict=True):
        words = words_of(row, begins)
        assert all(len(set(mask[word].tolist())) == 1 for word in words)
        assert mask.sum() == sum(mask[word].sum() for word in words)


def test_whole_words_come_to_the_share_too():
    ids, begins = rows(count=997), np.random.default_rng(2).random(TOKENS) < 0.6
    chosen = choose_words(ids, begins, share=0.3, rng=np.random.default_rng(4))[:, 1:-2]
    assert abs(chosen.mean() - 0.3) < 0.01


def test_a_window_that_begins_within_a_word_has_that_rest_chosen_as_often_as_others():
    ids, begins = rows(count=1999, positions=13), np.arange(TOKENS) % 2 == 0
    free = ids[:, 1:-2]  # five words of two tokens, but the first has lost its beginning
    free[:] = free // 2 * 2 - 1
    free[:, 2::2] += 1
    # Three of ten tokens are wanted: the second word goes half beyond, and is taken.
    chosen = choose_words(ids, begins, share=0.3, rng=np.random.default_rng(6))
    assert all(within(column.mean(), 0.4, len(ids)) for column in chosen[:, 1:-2].T)


def test_what_is_kept_stands_in_order_without_the_chosen_and_the_padding():
    chosen = np.array([[0, 1, 0, 0, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 0]], dtype=bool)
    kept = keep_unchosen(chosen, np.array([5, 3, 4]))
    assert kept.lengths.tolist() == [3, 3, 2]
    assert kept.places.tolist() == [[0, 2, 3], [0, 1, 2], [1, 3, 0]]
