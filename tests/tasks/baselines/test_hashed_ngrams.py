"""N-grams of words and characters, hashed and counted; features of pairs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, Ngrams, concatenate, hash_ngrams
from regard.tasks.baselines.pair_features import pair_features

WORDS = Ngrams(3, False)


def rows_of(text, ngrams=WORDS):
    return set(hash_ngrams([text], ngrams).rows.tolist())


def test_a_text_holds_its_ngrams_of_one_to_three_words():
    assert len(rows_of("the cat saw the cat")) == 3 + 3 + 3
    assert len(rows_of("the cat saw the cat", Ngrams(2, False))) == 3 + 3
    assert rows_of("a b c") > rows_of("a b") > rows_of("a")
    assert not rows_of("a") & rows_of("b")
    assert rows_of("b a") != rows_of("a b")


def test_capitals_are_folded_and_consecutive_punctuation_is_a_word():
    assert rows_of("Good FILM!!!") == rows_of("good film !!!")
    assert rows_of("film!!!") != rows_of("film!")
    assert len(rows_of("film!!!")) == 3


def test_ngrams_are_counted():
    (bag,) = (hash_ngrams(["to be or not to be"], Ngrams(2, False)),)
    assert sorted(bag.values.tolist()) == [1, 1, 1, 1, 1, 2, 2, 2]


@given(st.text(alphabet="abé字 ", max_size=30))
def test_characters_are_those_of_single_words(text):
    bag = hash_ngrams([text], Ngrams(1, True))
    spelled = Counter()
    for word in text.split():
        padded = f" {word} "
        own = {padded[n : n + k] for k in range(2, 6) for n in range(len(padded) - k + 1)}
        spelled.update(own)
    found = bag.values[bag.rows >= CHARACTER_ROW]
    assert sorted(found.tolist()) == sorted(spelled.values())


def test_no_ngram_spans_two_texts_and_order_is_kept():
    together = hash_ngrams(["a b", "", "c d e", "a b"], WORDS)
    assert np.diff(together.offsets).tolist() == [3, 0, 6, 3]
    assert set(together.rows[:3].tolist()) == rows_of("a b") == set(together.rows[-3:].tolist())


@pytest.mark.parametrize("ngrams", [WORDS, Ngrams()])
def test_chunks_change_nothing(ngrams):
    texts = [f"word{n % 7} is {n % 5}" for n in range(1031)]
    whole = hash_ngrams(texts, ngrams)
    parts = concatenate([hash_ngrams([text], ngrams) for text in texts])
    for name in ("offsets", "rows", "values"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()


def test_selected_bags_are_those_of_the_texts():
    texts = ["a b", "", "c d e", "f"]
    some = hash_ngrams(texts, WORDS).select(np.array([2, 0, 1]))
    direct = hash_ngrams([texts[2], texts[0], texts[1]], WORDS)
    assert some.rows.tolist() == direct.rows.tolist()
    assert some.offsets.tolist() == direct.offsets.tolist()


def test_hashes_are_the_same_on_every_machine():
    assert sorted(rows_of("not good")) == [2359993, 5645589, 11518618]


def test_pairs_have_features_of_either_side():
    sides, _ = pair_features([("c", "d"), ("d", "c")])
    assert len(set(sides.rows.tolist())) == 6
    bags, numbers = pair_features([("a b c", "a b d"), ("a b d", "a b c"), ("x", "x")])
    first, second = (set(bags.rows[bags.offsets[n] : bags.offsets[n + 1]].tolist()) for n in (0, 1))
    assert first != second and first & second  # what both have is the same, the rest is not
    assert numbers.shape == (3, 15)
    assert numbers[0, :3].tolist() == pytest.approx([2 / 4, 2 / 3, 2 / 3])
    assert numbers[2, :3].tolist() == [1.0, 1.0, 1.0]
    assert numbers[0, -3:].tolist() == pytest.approx([np.log(4), np.log(4), 0.0])
