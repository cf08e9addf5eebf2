"""Faithfulness: words that decide are told from words that do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.explain.faithfulness import faithfulness

CHANCE = np.random.default_rng


def decided_by(word, *, alone=True):
    """One word decides; without it the answer is lost, with it alone it stands."""

    def probabilities(kept):
        rest = kept.sum(axis=1) / kept.shape[1] if not alone else 1.0
        return np.where(kept[:, word], 0.9 * rest, 0.1)

    return probabilities


def test_the_word_that_decides_is_faithful_and_suffices():
    found = faithfulness(decided_by(3), np.eye(7)[3], generator=CHANCE(0))
    assert found.comprehensiveness.top == pytest.approx(0.8)
    assert found.comprehensiveness.high == pytest.approx(0.0)
    assert found.sufficiency.top == pytest.approx(0.0) and found.sufficiency.low == pytest.approx(
        0.8
    )
    assert found.faithful and found.suffices
    told = found.in_words("pos")
    assert "from 90% to 10%" in told and "leans on them" in told


def test_a_word_that_does_not_matter_is_told():
    found = faithfulness(decided_by(3), np.eye(7)[5], generator=CHANCE(0))
    assert not found.faithful and not found.suffices
    assert "do not take this reading for the reason" in found.in_words("pos")


def test_the_drawn_words_are_others_and_as_many():
    seen = []

    def probabilities(kept):
        seen.append(kept)
        return np.ones(len(kept))

    faithfulness(probabilities, np.arange(20.0), generator=CHANCE(1), draws=11)
    masks = np.concatenate(seen)
    assert masks.shape == (1 + 2 * 12, 20) and masks[0].all()
    assert not masks[1, -3:].any() and masks[2:13, -3:].all()
    assert (masks[1:13].sum(1) == 17).all() and (masks[13:].sum(1) == 3).all()
    assert masks[13, -3:].all() and not masks[14:, -3:].any()


def test_one_word_cannot_be_tested():
    found = faithfulness(decided_by(0), np.ones(1), generator=CHANCE(0))
    assert not found.faithful and "Too few words" in found.in_words("pos")


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=23), st.integers(0, 1000))
def test_any_scores_give_finite_figures(scores, seed):
    found = faithfulness(decided_by(0), np.array(scores), generator=CHANCE(seed))
    told = found.as_json()
    for part in ("comprehensiveness", "sufficiency"):
        assert told[part]["low"] <= told[part]["random"] + 1e-9 <= told[part]["high"] + 2e-9
