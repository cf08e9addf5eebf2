"""Tags are read as spans, written as tags, and their scheme is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.tagging.schemes import (
    Span,
    detect_scheme,
    is_prefixed,
    normalize,
    read_spans,
    write_tags,
)

SPANS = [Span(0, 2, "PER"), Span(2, 3, "PER"), Span(4, 5, "LOC"), Span(5, 8, "PER")]
WRITTEN = {
    "IOB1": "I-PER I-PER B-PER O I-LOC I-PER I-PER I-PER O",
    "IOB2": "B-PER I-PER B-PER O B-LOC B-PER I-PER I-PER O",
    "BIOES": "B-PER E-PER S-PER O S-LOC B-PER I-PER E-PER O",
}
BILOU = "B-PER L-PER U-PER O U-LOC B-PER I-PER L-PER O"
BMES = "B-PER E-PER S-PER O S-LOC B-PER M-PER E-PER O"


@pytest.mark.parametrize("scheme", WRITTEN)
@pytest.mark.parametrize("strict", [False, True])
def test_spans_become_tags_and_tags_spans(scheme, strict):
    tags = WRITTEN[scheme].split()
    assert write_tags(SPANS, 9, scheme) == tags
    assert read_spans(tags, scheme, strict=strict) == SPANS


@pytest.mark.parametrize("tags", [BILOU, BMES])
def test_other_letters_for_the_same_are_bioes(tags):
    assert detect_scheme([tags.split()]) == "BIOES"
    assert " ".join(map(normalize, tags.split())) == WRITTEN["BIOES"]


@pytest.mark.parametrize("scheme", WRITTEN)
def test_the_scheme_is_found(scheme):
    assert detect_scheme([["O"], WRITTEN[scheme].split()]) == scheme


def test_tags_without_prefixes_are_one_per_token():
    tags = ["DET", "NOUN", "VERB", "O", "N", "S", "E"]
    assert detect_scheme([tags]) == "none"
    assert read_spans(tags, "none") == [Span(at, at + 1, tag) for at, tag in enumerate(tags)]
    assert write_tags(read_spans(tags, "none"), len(tags), "none") == tags


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("O O", "IOB2"),
        ("B-PER O", "IOB2"),
        ("I-PER O", "IOB1"),
        ("I-PER B-PER", "IOB1"),
        # One slip does not change what the rest says.
        ("B-PER I-PER O B-LOC O I-PER", "IOB2"),
        ("I-PER O I-LOC O B-LOC", "IOB1"),
        ("B-PER I-PER O PER", "IOB2"),
        ("B I O B", "IOB2"),
        ("B-PER B-PER", "IOB2"),
        ("S-PER O", "BIOES"),
    ],
)
def test_few_tags_say_the_scheme_too(tags, scheme):
    assert detect_scheme([tags.split()]) == scheme


@pytest.mark.parametrize(
    ("tags", "lenient", "strict"),
    [
        ("O I-PER", [Span(1, 2, "PER")], []),
        ("B-PER I-LOC", [Span(0, 1, "PER"), Span(1, 2, "LOC")], [Span(0, 1, "PER")]),
        ("I-PER I-PER O B-PER", [Span(0, 2, "PER"), Span(3, 4, "PER")], [Span(3, 4, "PER")]),
    ],
)
def test_what_iob2_forbids_is_a_span_only_to_conlleval(tags, lenient, strict):
    assert read_spans(tags.split(), "IOB2") == lenient
    assert read_spans(tags.split(), "IOB2", strict=True) == strict


@st.composite
def spans(draw):
    at, found = 0, []
    for gap, length, label in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from("XY")))
    ):
        found.append(Span(at + gap, at + gap + length, label))
        at += gap + length
    return found, at + draw(st.integers(0, 2))


@given(spans(), st.sampled_from(["IOB1", "IOB2", "BIOES"]), st.booleans())
def test_no_span_is_lost_between_tags(drawn, scheme, strict):
    found, length = drawn
    tags = write_tags(found, length, scheme)
    assert len(tags) == length and all(map(is_prefixed, tags))
    # seqeval's strict IOB1 loses a span that begins right after a B of another type.
    if not (strict and scheme == "IOB1"):
        assert read_spans(tags, scheme, strict=strict) == found
