"""Erasure: words that decide are distinguished from words that do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.explain.erasure import (
    Erasure,
    Faithfulness,
    average_erasure,
    erase,
    is_dependent,
    judge,
    least_effect,
    name_words,
)

CHANCE = np.random.default_rng


def decided_by(word, *, alone=True):
    """One word decides; without it the answer is lost, with it alone it stands."""

    def probabilities(kept):
        rest = kept.sum(axis=1) / kept.shape[1] if not alone else 1.0
        return np.where(kept[:, word], 0.9 * rest, 0.1)

    return probabilities


def test_the_word_that_decides_is_faithful_and_suffices():
    found = erase(decided_by(3), np.eye(7)[3], generator=CHANCE(0))
    assert found.comprehensiveness.top == pytest.approx(0.8)
    assert found.comprehensiveness.high == pytest.approx(0.0)
    assert found.sufficiency.top == pytest.approx(0.0) and found.sufficiency.low == pytest.approx(
        0.8
    )
    assert found.faithful and found.suffices
    sentence = found._replace(erased=("lovely",)).describe("pos")
    assert 'The label "pos" depends on "lovely", almost alone.' in sentence
    assert "Without this word its probability goes from 90% to 10%" in sentence
    assert "without another word to 90% (95% of random draws)" in sentence


def test_an_answer_that_rises_without_its_words_does_not_depend_on_them():
    def probabilities(kept):
        return np.where(kept[:, 3], 0.90, 0.91) + 0.05 * (kept[:, :3].sum(axis=1) < 3)

    found = erase(probabilities, np.eye(4)[3], generator=CHANCE(0))
    drop = found.comprehensiveness
    assert 0 > drop.top > drop.high and not found.faithful


def test_a_word_that_does_not_matter_is_recognised():
    found = erase(decided_by(3), np.eye(7)[5], generator=CHANCE(0))
    assert not found.faithful and not found.suffices
    sentence = found._replace(erased=("of",)).describe("pos")
    assert 'depends no more on "of" than on other words.' in sentence


def test_the_drawn_words_are_others_and_as_many():
    seen = []

    def probabilities(kept):
        seen.append(kept)
        return np.ones(len(kept))

    erase(probabilities, np.arange(20.0), generator=CHANCE(1), draws=11)
    masks = np.concatenate(seen)
    assert masks.shape == (1 + 2 * 12, 20) and masks[0].all()
    assert not masks[1, -3:].any() and masks[2:13, -3:].all()
    assert (masks[1:13].sum(1) == 17).all() and (masks[13:].sum(1) == 3).all()
    assert masks[13, -3:].all() and not masks[14:, -3:].any()


@pytest.mark.parametrize("words", [0, 1])
def test_a_text_of_a_word_cannot_be_tested(words):
    found = erase(
        lambda kept: np.full(len(kept), 0.6), np.ones(words), generator=CHANCE(0), draws=5
    )
    none = Erasure(0, 0.6, 0.0, 0.0, 0.0, 0.0)
    assert found == Faithfulness(none, none) and not found.faithful and not found.suffices
    assert "too few words to erase" in found.describe("pos")


def test_a_share_of_the_words_is_ranked_highest_and_at_least_one():
    for words, count in ((2, 1), (7, 1), (101, 15)):
        found = erase(decided_by(0), list(map(float, range(words))), generator=CHANCE(0), draws=5)
        assert found.comprehensiveness.words == found.sufficiency.words == count


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=23), st.integers(0, 1000))
def test_any_scores_give_finite_figures(scores, seed):
    found = erase(decided_by(0), np.array(scores), generator=CHANCE(seed))
    result = found.as_json("pos")
    for part in ("comprehensiveness", "sufficiency"):
        assert result[part]["low"] <= result[part]["random"] + 1e-9 <= result[part]["high"] + 2e-9


@pytest.mark.parametrize(
    ("without", "alone", "verdict"),
    [
        (0.41, 0.1, 'depends on "a", "b" and "c", almost alone.'),
        (0.41, 0.5, 'depends on "a", "b" and "c", among other words.'),
        (0.05, 0.1, "than on other words, although these words alone are sufficient."),
        (0.05, 0.5, 'depends no more on "a", "b" and "c" than on other words.'),
    ],
)
def test_it_is_described_in_words(without, alone, verdict):
    found = Faithfulness(
        Erasure(3, 0.8, without, 0.02, -0.05, 0.11),
        Erasure(3, 0.8, alone, 0.6, 0.45, 0.7),
        ("▁a", "b", "c"),
    )
    sentence = found.describe("good")
    assert sentence.startswith('The label "good" depends') and verdict in sentence
    assert f"Without these 3 words its probability goes from 80% to {0.8 - without:.0%}" in sentence
    assert "without 3 other words to between 69% and 85% (95% of random draws)" in sentence
    assert f"With these 3 words alone it is {0.8 - alone:.0%}, with 3 other words" in sentence
    assert sentence == found.as_json("good")["sentence"]


@pytest.mark.parametrize(
    ("whole", "drop", "others", "said"),
    [
        (0.99, 0.004, 0.001, "does not depend measurably on"),
        (0.99, 0.049, 0.001, "does not depend measurably on"),
        (0.99, 0.051, 0.001, "depends on"),
        (0.99, 0.051, 0.060, "depends no more on"),
        (0.99, -0.20, 0.001, "does not depend measurably on"),
        (0.04, 0.021, 0.001, "depends on"),
        (0.04, 0.019, 0.001, "does not depend measurably on"),
        (0.001, 0.001, 0.0, "does not depend measurably on"),
    ],
)
def test_an_effect_is_one_that_can_be_seen_and_random_words_do_not_have(whole, drop, others, said):
    assert said in judge(whole, drop, others, '"x"')
    assert is_dependent(whole, drop, others) == (said == "depends on")


@pytest.mark.parametrize(
    ("whole", "alone", "others", "suffices"),
    [
        (0.57, 0.01, 0.03, False),  # 56%, where nearly all others alone have at most 54%
        (0.57, 0.01, 0.07, True),
        (0.57, 0.30, 0.40, False),
        (0.99, -0.01, 0.02, False),
    ],
)
def test_words_suffice_if_others_alone_have_measurably_less(whole, alone, others, suffices):
    drop = Erasure(1, whole, 0.0, 0.0, 0.0, 0.0)
    found = Faithfulness(drop, Erasure(1, whole, alone, 0.5, others, 0.6), ("x",))
    assert found.suffices == suffices
    assert ("although this word alone is sufficient" in found.describe("good")) == suffices


@given(st.floats(0, 1))
def test_the_least_effect_is_at_most_five_points_and_always_printed(whole):
    assert 0.005 <= least_effect(whole) <= 0.05
    assert not is_dependent(whole, 0.0, -1.0)


def test_no_effect_of_any_word_is_said_to_be_none():
    found = erase(lambda kept: np.full(len(kept), 0.99), np.eye(7)[3], generator=CHANCE(0))
    sentence = found._replace(erased=("fine",)).describe("pos")
    assert 'The label "pos" does not depend measurably on "fine".' in sentence
    assert "from 99% to 99%" in sentence and not found.faithful


def test_a_score_is_written_in_its_range():
    found = erase(decided_by(3), np.eye(7)[3], generator=CHANCE(0))
    sentence = found._replace(erased=("cat",), score_range=(0.0, 5.0)).describe("score")
    assert sentence.startswith('The score of 4.5 depends on "cat", almost alone.')
    assert "Without this word it goes from 4.5 to 0.5, without another word to 4.5" in sentence
    turned = found._replace(erased=("not",), score_range=(5.0, 0.0)).describe("score")
    assert "it goes from 0.5 to 4.5" in turned and "%" not in turned.replace("95% of", "")


def test_many_words_are_counted_after_the_first_five():
    assert name_words(["▁a"]) == '"a"'
    assert name_words(["a", "b"]) == '"a" and "b"'
    assert name_words(list("abcdef")) == '"a", "b", "c", "d", "e" and 1 more word'
    assert name_words(list("abcdefg")) == '"a", "b", "c", "d", "e" and 2 more words'


def test_over_many_texts_the_advantage_has_an_interval():
    nothing = Erasure(1, 0.9, 0.0, 0.0, 0.0, 0.0)
    tops = np.linspace(0.2, 0.6, 41)
    some = [Faithfulness(Erasure(1, 0.9, top, 0.1, 0.0, 0.2), nothing) for top in tops]
    mean = average_erasure(some, generator=CHANCE(0))
    assert mean.texts == 41 and mean.top == pytest.approx(0.4)
    assert mean.chance == pytest.approx(0.1) and mean.advantage == pytest.approx(0.3)
    assert 0.2 < mean.low < mean.advantage < mean.high < 0.4
