"""Words left out of a text: the probability is that of the model without them, for every kind."""

import numpy as np
import pytest

from regard.errors import UsageError
from regard.explain.what_if import answer_without

TEXT = "the book and the plot are fine"
TEXTS = {"translation": "eins elf", "pair": "the book is fine\tthe plot is poor"}


@pytest.mark.parametrize(
    "kind", ["label", "recurrent", "translation", "language", "hops", "ensemble"]
)
def test_the_probability_is_that_of_the_ids_that_are_left(explained, kind):
    run, text = explained(kind), TEXTS.get(kind, TEXT)
    question = run.task.question(run.model, text)
    place = question.erasable[1]
    found = answer_without(run, text, [place])
    kept = [n for n in range(len(question.words)) if n != place]
    ids = [id for n in kept for id in question.ids[question.words[n]]]
    both = question.evaluate([list(question.ids), ids], score=question.probability)
    np.testing.assert_allclose([found.before, found.after], both, rtol=1e-6)
    assert found.before != found.after and found.words[place] not in ("", None)


def test_nothing_left_out_changes_nothing(explained):
    run, text = explained("label"), TEXT
    found = answer_without(run, text, [])
    assert found.before == pytest.approx(found.after) and found.outputs == ()
    assert found.instead == run.task.answer(run.model, [text])[0].text


def test_every_written_word_has_its_probability_before_and_after(explained):
    run, text = explained("translation"), TEXTS["translation"]
    found = answer_without(run, text, [0], target="eleven one")
    whole = np.prod([one.before for one in found.outputs])
    tokens = round(np.log(whole) / np.log(found.before))  # its geometric mean is what is tested
    assert len(found.outputs) > 1 and found.before**tokens == pytest.approx(whole, rel=1e-4)
    assert any(abs(one.before - one.after) > 1e-6 for one in found.outputs)


def test_what_is_left_is_asked_as_a_text_of_its_own(explained):
    run = explained("label")
    words = answer_without(run, "the book is fine", []).words
    (place,) = (n for n, word in enumerate(words) if word.endswith("fine"))
    found = answer_without(run, "the book is fine", [place])
    assert found.text.split() == ["the", "book", "is"]
    assert found.instead == run.task.answer(run.model, [found.text])[0].text


def test_a_pair_is_not_asked_again_in_parts(explained):
    assert answer_without(explained("pair"), TEXTS["pair"], [2]).instead is None


@pytest.mark.parametrize("places", [[-1], [10_000]])
def test_places_that_are_not_there_are_refused(explained, places):
    with pytest.raises(UsageError, match="can be erased"):
        answer_without(explained("label"), TEXT, places)
