"""Persons, places and times: the spans are right, and a word alone does not decide."""

import re
from collections import defaultdict
from hashlib import sha256

import pytest

from regard.data.worlds.names import COUNTS, draw_names
from regard.data.worlds.names import words as lists

FIRST_HUNDRED = "2e8bbe2534117ec43527f03b631e1d2d828cd36be76b6757f5ae492aeda43ba0"
SPLITS = ("train", "valid", "test")
SOME = 1500


@pytest.fixture(scope="module")
def drawn():
    return {split: list(draw_names(split, count=SOME)) for split in SPLITS}


def marked(sentences):
    return [(one.text[begin:end], label) for one in sentences for begin, end, label in one.spans]


def test_the_same_sentences_come_on_every_machine():
    result = "\n".join(f"{one.text}{one.spans}" for one in draw_names("train", count=100))
    assert sha256(result.encode()).hexdigest() == FIRST_HUNDRED


def test_the_splits_have_the_promised_sizes_and_no_sentence_twice():
    every = [one.text for split in ("valid", "test") for one in draw_names(split)]
    assert len(set(every)) == len(every) == COUNTS["valid"] + COUNTS["test"]


def test_spans_are_words_of_their_text_in_order_and_apart(drawn):
    for one in drawn["train"]:
        ends = [0]
        for begin, end, _ in one.spans:
            assert ends[-1] <= begin < end <= len(one.text)
            assert re.fullmatch(r"[A-Z0-9]\w*( \w+)*", one.text[begin:end])
            assert begin == 0 or one.text[begin - 1] == " "
            assert one.text[end] in " .,?"
            ends.append(end)
        assert "@" not in one.text and re.fullmatch(r"[A-Z0-9].*[.?]", one.text)


def test_every_name_is_marked_wherever_it_stands(drawn):
    """What is left of a sentence without its spans holds no name."""
    known = {*lists.WOMEN, *lists.MEN, *lists.PLACES, *lists.WEEKDAYS, *lists.MONTHS, *lists.YEARS}
    ordinary = {"May"}  # "May Anna see the dog?"
    for one in drawn["train"]:
        rest = one.text
        for begin, end, _ in reversed(one.spans):
            rest = rest[:begin] + rest[end:]
        assert not set(re.findall(r"\w+", rest)) & (known - ordinary), one.text


def test_most_ambiguous_words_are_of_two_kinds_in_training(drawn):
    kinds = defaultdict(set)
    for name, label in marked(drawn["train"]):
        kinds[name].add(label)
    both = {name for name, labels in kinds.items() if len(labels) > 1}
    assert {*lists.WOMEN_AND_TIMES, *lists.MEN_AND_TIMES} <= both
    assert len(both & {*lists.WOMEN_AND_PLACES, *lists.MEN_AND_PLACES}) > 10
    # "Will Anna sing?" begins with no name, "Will sings." does.
    starts = {one.text.split()[0] for one in drawn["train"] if one.text.endswith("?")}
    assert "Will" in starts


@pytest.mark.parametrize("split", ["valid", "test"])
def test_many_names_are_in_no_other_split(drawn, split):
    seen = {
        word
        for side in SPLITS
        if side != split
        for name, _ in marked(drawn[side])
        for word in name.split()
    }
    own = [name for name, _ in marked(drawn[split]) if not set(name.split()) <= seen]
    assert 0.25 < len(own) / len(marked(drawn[split])) < 0.5
