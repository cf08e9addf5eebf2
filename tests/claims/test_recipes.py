"""The texts of slow claims are what their docstrings say."""

from regard.claims.pretraining.objective_training import make_counting_lines
from regard.claims.recipes import join_sentences, make_opinions
from regard.data.worlds.reviews.words import RATING_OF


def ratings(sentences):
    return [str(RATING_OF[sentence.split()[-1].rstrip(".")]) for sentence in sentences]


def test_opinions_of_a_review_agree_with_its_rating():
    found = make_opinions(50, 3, seed=1)
    assert len(found) == 50 and {rating for _, rating in found} == set("12345")
    assert all(ratings(sentences) == [rating] * 3 for sentences, rating in found)
    assert found == make_opinions(50, 3, seed=1) != make_opinions(50, 3, seed=2)


def test_opinions_that_need_not_agree_mostly_do_not():
    found = make_opinions(50, 4, seed=1, agree=False)
    assert sum(len(set(ratings(sentences))) > 1 for sentences, _ in found) > 40


def test_a_review_is_joined_to_one_text():
    assert join_sentences([(("A b.", "C d."), "3")]) == [("A b. C d.", "3")]


def test_lines_count_on_and_those_asked_are_not_among_those_learned():
    learned, asked = (text.splitlines() for text in make_counting_lines(10, 4))
    assert (len(learned), len(asked)) == (8, 2)
    assert not set(learned) & set(asked)
    for line in (*learned, *asked):
        first, *_ = numbers = [int(word) for word in line.split()]
        assert numbers == list(range(first, first + 4))
