"""The baseline gives each word its commonest tag."""

from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.tagging.most_frequent import MostFrequentTag

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SEEN = [("York", "I-LOC"), ("York", "I-LOC"), ("York", "B-PER"), ("in", "O"), ("the", "O")]


def test_a_word_gets_its_commonest_tag_and_an_unknown_one_the_commonest_of_all():
    baseline = MostFrequentTag(TAGS)
    baseline.fit([*SEEN, ("a", "O"), ("Anna", "B-PER")])
    assert baseline(["Anna", "in", "York", "Zoe"]) == ["B-PER", "O", "I-LOC", "O"]


@given(
    st.lists(
        st.tuples(st.text(min_size=1).filter(lambda w: "\0" not in w), st.sampled_from(TAGS)),
        min_size=1,
    )
)
def test_it_is_kept_as_tensors_and_taken_up_again(tagged):
    first, second = MostFrequentTag(TAGS), MostFrequentTag(TAGS)
    second.load(first.fit(tagged))
    assert (second.default, second.by_word) == (first.default, first.by_word)
    words = [word for word, _ in tagged] + ["never seen before"]
    assert first(words) == second(words)


def test_only_what_differs_is_kept():
    baseline = MostFrequentTag(TAGS)
    baseline.fit(SEEN)
    assert baseline.default == "O" and baseline.by_word == {"York": "I-LOC"}
