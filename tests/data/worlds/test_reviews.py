from collections import Counter
from itertools import islice

import pytest

from regard.data.worlds import open_world
from regard.data.worlds.reviews import COUNTS, draw_reviews, side_of
from regard.data.worlds.reviews.words import (
    ASPECTS,
    HEARSAY,
    LISTS,
    NEGATED,
    OPINIONS,
    RATING_OF,
    VERDICT,
)
from regard.text.sentences import split_sentences

SPLITS = ("train", "valid", "test")
SOME = 300


@pytest.fixture(scope="module", params=SPLITS)
def drawn(request):
    return request.param, list(draw_reviews(request.param, count=SOME))


def words_of(review, places):
    return [review.sentences[s].split()[w].rstrip(".,") for s, w in places]


def rated(words):
    rating = RATING_OF[words[-1]]
    return str(NEGATED[rating] if words[:-1] == ["not"] else rating)


def test_the_rationale_gives_the_rating(drawn):
    for review in drawn[1]:
        words = words_of(review, review.rationale_words)
        named = [word for word in words if word in ASPECTS]
        judged = [word for word in words if word not in ASPECTS]
        assert rated(judged) == review.rating
        assert len(named) == review.needs_context
        assert {s for s, _ in review.rationale_words} == set(review.rationale_sentences)


def test_in_a_list_the_named_thing_stands_before_its_opinion(drawn):
    for review in drawn[1]:
        if not review.needs_context:
            continue
        named, listed = review.rationale_sentences
        assert named < listed
        (aspect, *_) = words_of(review, review.rationale_words)
        words = [word.rstrip(".,") for word in review.sentences[listed].split()]
        first = min(w for s, w in review.rationale_words if s == listed)
        before = words[first - 2 : first]
        assert aspect in before and words.count(aspect) == 1
        assert sum(word in ASPECTS for word in words) >= 2


def test_neither_sentence_says_the_rating_alone(drawn):
    """The naming sentence judges nothing, and every list holds other ratings too."""
    for review in (one for one in drawn[1] if one.needs_context):
        named, listed = (review.sentences[at] for at in review.rationale_sentences)
        assert not any(word.rstrip(".,") in RATING_OF for word in named.split())
        assert sum(word.rstrip(".,") in RATING_OF for word in listed.split()) >= 2


def test_a_guess_by_the_commonest_opinion_is_often_wrong():
    right = total = 0
    for review in (one for one in draw_reviews("test") if one.needs_context):
        words = [w.rstrip(".,") for w in review.sentences[review.rationale_sentences[1]].split()]
        ratings = Counter(
            rated(words[at - 1 : at + 1]) if words[at - 1] == "not" else rated([word])
            for at, word in enumerate(words)
            if word in RATING_OF
        )
        total += 1
        right += ratings.most_common(1)[0][0] == review.rating
    assert 0.4 < right / total < 0.6


def test_the_splits_share_words_but_no_pair():
    pairs = {}
    for split in SPLITS:
        found = pairs[split] = set()
        for review in draw_reviews(split, count=SOME):
            for sentence in review.sentences:
                words = [word.rstrip(".,") for word in sentence.split()]
                for at, word in enumerate(words):
                    near = [w for w in words[max(0, at - 4) : at] if w in ASPECTS]
                    if word in RATING_OF and near:
                        found.add((near[-1], word))
    assert not pairs["train"] & pairs["test"] and not pairs["train"] & pairs["valid"]
    assert not pairs["valid"] & pairs["test"]
    assert {word for _, word in pairs["train"]} == set(RATING_OF)
    assert {aspect for aspect, _ in pairs["test"]} == set(ASPECTS)


def test_every_split_can_judge_everything_in_every_way():
    for aspect in ASPECTS:
        for words in OPINIONS.values():
            assert {side_of(aspect, word) for word in words} == set(SPLITS)


def test_sentences_are_found_again_in_the_text(drawn):
    for review in drawn[1]:
        assert split_sentences(review.text) == list(review.sentences)


def test_only_the_writer_counts():
    """A plain review has one sentence of the writer's own; the others are chatter."""
    own = {frame.split("{")[0] for frame in (*VERDICT, *LISTS)}
    for review in islice((one for one in draw_reviews("train") if not one.needs_context), SOME):
        judged = [at for at, s in enumerate(review.sentences) if s.startswith(tuple(own))]
        assert judged == list(review.rationale_sentences)
    assert not any(frame.startswith(tuple(own)) for frame in HEARSAY)


def test_it_is_the_same_for_the_same_seed_and_distinct():
    first, again, other = (list(draw_reviews("valid", count=50, seed=seed)) for seed in (0, 0, 1))
    assert first == again and first != other
    assert len({one.text for one in first}) == 50


def test_ratings_and_kinds_are_shared_out():
    found = list(draw_reviews("test"))
    assert len(found) == COUNTS["test"]
    assert min(Counter(one.rating for one in found).values()) > 120
    assert 0.45 < sum(one.needs_context for one in found) / len(found) < 0.55


def test_it_is_read_like_a_file_of_texts_and_labels():
    record = next(iter(open_world("reviews", "test")))
    first = next(draw_reviews("test"))
    assert record.fields == (first.text, first.rating) and record.file == "world:reviews/test"
