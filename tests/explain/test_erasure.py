import numpy as np
import pytest

from regard.explain.erasure import Erasure, erase, in_words, mean_erasure

WORDS = 11


def generator(seed=0):
    return np.random.default_rng(seed)


def leaning_on(*places):
    """Make a reader whose answer loses a tenth for each of these words that is gone."""
    return lambda masks: 0.9 - 0.1 * (~masks[:, list(places)]).sum(axis=1)


def test_words_that_matter_cost_more_than_random_ones():
    scores = np.zeros(WORDS)
    scores[[2, 7]] = 1.0, 0.5
    found = erase(leaning_on(2, 7), scores, generator=generator(), count=2)
    assert found.words == 2 and found.whole == pytest.approx(0.9)
    assert found.top == pytest.approx(0.2)
    assert found.chance == pytest.approx(0.1 * 2 * 2 / WORDS, abs=0.03)
    assert found.low == 0 and found.high <= 0.2


def test_words_that_do_not_matter_cost_nothing():
    found = erase(leaning_on(2, 7), np.eye(WORDS)[4], generator=generator(), count=1)
    assert found.top == 0 and not found.faithful


def test_the_same_number_of_words_is_erased_in_every_variant():
    seen = []

    def reader(masks):
        seen.append(masks)
        return masks.mean(axis=1)

    erase(reader, np.arange(WORDS, dtype=float), generator=generator(), count=3, draws=17)
    (masks,) = seen
    assert masks.shape == (19, WORDS) and masks[0].all()
    assert (~masks[1:]).sum(axis=1).tolist() == [3] * 18
    assert masks[1].tolist() == [True] * 8 + [False] * 3
    assert len({tuple(mask) for mask in masks[2:]}) > 10


def test_a_share_is_erased_by_default_and_something_always_stays():
    found = erase(leaning_on(0), np.ones(100), generator=generator())
    assert found.words == 15
    assert erase(leaning_on(0), np.ones(2), generator=generator(), count=9).words == 1


@pytest.mark.parametrize("words", [0, 1])
def test_a_text_of_a_word_has_nothing_to_erase(words):
    found = erase(lambda masks: np.full(len(masks), 0.6), np.ones(words), generator=generator())
    assert found == Erasure(0, 0.6, 0.0, 0.0, 0.0, 0.0)
    assert "too few words" in in_words(found, "yes")


def test_it_is_said_in_words():
    told = in_words(Erasure(3, 0.8, 0.41, 0.02, -0.05, 0.11), "good")
    assert "3 words looked at most" in told and "'good' falls by 41.0 points (from 80%)" in told
    assert "at random it falls by 2.0 (95% of draws: -11.0 to 5.0)" in told
    assert "does lean on them" in told
    told = in_words(Erasure(1, 0.8, -0.05, 0.02, -0.05, 0.11), "good")
    assert "the 1 word looked at" in told and "rises by 5.0" in told and "do not read" in told


def test_over_many_texts_the_advantage_has_an_interval():
    some = [Erasure(1, 0.9, top, 0.1, 0.0, 0.2) for top in np.linspace(0.2, 0.6, 41)]
    mean = mean_erasure(some, generator=generator())
    assert mean.texts == 41 and mean.advantage == pytest.approx(0.3)
    assert 0.2 < mean.low < mean.advantage < mean.high < 0.4


def test_the_figures_go_into_json():
    assert Erasure(3, 0.8, 0.4, 0.0, -0.1, 0.1).as_json()["faithful"] is True
