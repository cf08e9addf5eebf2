"""Entity scores are seqeval's, mode by mode and scheme by scheme, for well-formed tags and others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard import __version__
from regard.tasks.tagging.metrics import score_entities, signature, token_accuracy

seqeval = pytest.importorskip("seqeval", reason="seqeval is not installed")

PREFIXES = {"IOB1": "BI", "IOB2": "BI", "BIOES": "BIES"}
THEIR_NAMES = {"IOB1": "IOB1", "IOB2": "IOB2", "BIOES": "IOBES"}


@st.composite
def tagged(draw):
    scheme = draw(st.sampled_from(sorted(PREFIXES)))
    tags = st.sampled_from(["O", *(f"{p}-{t}" for p in PREFIXES[scheme] for t in ("A", "B", "C"))])
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    side = st.tuples(*(st.lists(tags, min_size=n, max_size=n) for n in lengths))
    return scheme, draw(side), draw(side)


def theirs(gold, said, scheme, *, strict, average):
    import seqeval.scheme
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as lenient
    from seqeval.metrics.v1 import precision_recall_fscore_support as strictly

    plain = {"average": average, "zero_division": 0}
    if strict:
        named = getattr(seqeval.scheme, THEIR_NAMES[scheme])
        return strictly(gold, said, scheme=named, **plain)
    return lenient(gold, said, **plain)


@given(tagged(), st.booleans())
def test_scores_agree_with_seqeval(drawn, strict):
    scheme, gold, said = drawn
    gold, said = list(gold), list(said)
    ours = score_entities(zip(gold, said, strict=True), scheme, strict=strict)
    assert ours.micro == pytest.approx(theirs(gold, said, scheme, strict=strict, average="micro"))
    each = theirs(gold, said, scheme, strict=strict, average=None)
    columns = list(zip(*ours.by_type.values(), strict=True)) or [()] * 4
    for mine, other in zip(columns, each, strict=True):
        assert mine == pytest.approx(list(other))
    if ours.by_type:
        macro = theirs(gold, said, scheme, strict=strict, average="macro")
        assert ours.macro == pytest.approx(macro)


@given(tagged())
def test_accuracy_agrees_with_seqeval(drawn):
    from seqeval.metrics import accuracy_score

    _, gold, said = drawn
    ours = token_accuracy(zip(gold, said, strict=True))
    assert ours == pytest.approx(accuracy_score(list(gold), list(said)))


def test_a_small_case_by_hand():
    gold = ["B-PER", "I-PER", "O", "B-LOC"]
    said = ["B-PER", "O", "O", "B-LOC"]
    scores = score_entities([(gold, said)], "IOB2")
    assert scores.micro == (0.5, 0.5, 0.5, 2)
    assert scores.by_type["LOC"].f1 == 1 and scores.by_type["PER"].f1 == 0
    assert scores.macro.f1 == 0.5 and token_accuracy([(gold, said)]) == 0.75


def test_parts_of_speech_are_scored_token_by_token():
    pairs = [(["DET", "NOUN"], ["DET", "VERB"])]
    assert score_entities(pairs, "none").micro.f1 == token_accuracy(pairs) == 0.5


def test_nothing_to_find_and_nothing_found_is_zero():
    scores = score_entities([(["O"], ["O"])], "IOB2")
    assert scores.micro == scores.macro == (0, 0, 0, 0) and scores.by_type == {}


def test_the_signature_names_mode_and_scheme():
    assert signature("IOB2", strict=False) == (
        f"entity-f1|mode:default|scheme:IOB2|regard:{__version__}"
    )
    assert "mode:strict" in signature("IOB1", strict=True)
