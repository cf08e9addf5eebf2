import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.split import is_held_out, normalize_text, split_at_end
from regard.errors import DataError

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
texts = [f"Satz Nummer {number}" for number in range(5003)]


def share_of(share: float, seed: int = 0) -> float:
    return sum(is_held_out((text, "x"), share=share, seed=seed) for text in texts) / len(texts)


def test_about_the_share_asked_for_is_held_out():
    for share in (0.02, 0.05, 0.3):
        spread = (share * (1 - share) / len(texts)) ** 0.5
        assert abs(share_of(share) - share) < 4 * spread
    assert share_of(0.0) == 0.0


def test_a_larger_share_only_adds():
    small = {text for text in texts if is_held_out((text,), share=0.05, seed=3)}
    large = {text for text in texts if is_held_out((text,), share=0.1, seed=3)}
    assert small < large


def test_another_seed_gives_another_split():
    first = [is_held_out((text,), share=0.5, seed=0) for text in texts]
    other = [is_held_out((text,), share=0.5, seed=1) for text in texts]
    assert 0.4 < sum(a == b for a, b in zip(first, other, strict=True)) / len(texts) < 0.6


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 99))
def test_texts_that_differ_in_case_and_spacing_only_land_on_one_side(text, seed):
    sides = {
        is_held_out(fields, share=0.5, seed=seed)
        for fields in [(text, "a"), (f"  {text}\n", "b"), (normalize_text(text),)]
    }
    assert len(sides) == 1


def test_the_split_is_the_same_for_ever():
    # Stored answers: a run that is resumed by a later version must see the same split.
    held = [number for number in range(200) if is_held_out((f"{number}",), share=0.05, seed=0)]
    assert held == [10, 42, 45, 48, 85, 100, 112, 135, 180]


@given(st.lists(st.tuples(words, words), max_size=31), st.floats(0.01, 0.49), st.integers(0, 99))
def test_a_group_is_never_on_both_sides(examples, share, seed):
    sides = {True: set(), False: set()}
    for text, group in examples:
        sides[is_held_out((text,), share=share, seed=seed, group=group)].add(group)
    assert not sides[True] & sides[False]


def test_about_the_share_asked_for_of_the_groups_is_held_out():
    for share in (0.02, 0.05, 0.3):
        held = sum(is_held_out(("same text",), share=share, seed=0, group=text) for text in texts)
        assert abs(held / len(texts) - share) < 4 * (share * (1 - share) / len(texts)) ** 0.5


def ended(records, share, wanted):
    return list(split_at_end(lambda: iter(records), share=share, wanted=wanted))


@given(st.integers(2, 97), st.floats(0.01, 0.49))
def test_the_end_of_many_examples_is_held_out_by_number(count, share):
    records = [(str(number),) for number in range(count)]
    train, valid = ended(records, share, False), ended(records, share, True)
    assert train + valid == records and train and valid
    assert len(train) == int(count * (1 - share))


@given(st.text(min_size=3), st.floats(0.01, 0.49))
def test_the_end_of_a_single_text_is_held_out_by_characters(text, share):
    (train,), (valid,) = ended([(text,)], share, False)[0], ended([(text,)], share, True)[0]
    assert train + valid == text and train and valid


def test_a_tenth_of_tinyshakespeare_is_what_others_hold_out():
    (train,) = ended([("x" * 1_115_394,)], 0.1, False)[0]
    assert len(train) == 1_003_854


@pytest.mark.parametrize("fields", [("a b c", "d e f"), ("a",)])
def test_a_single_example_that_cannot_be_cut_is_refused(fields):
    with pytest.raises(DataError, match=f"{len(fields)} fields"):
        ended([fields], 0.1, True)
