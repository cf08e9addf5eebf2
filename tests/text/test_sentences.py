import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.sentences import split_sentences

CASES = [
    ("Das ist gut. Das auch!", ["Das ist gut.", "Das auch!"]),
    ("Er kam am 3. Mai an. Sie nicht.", ["Er kam am 3. Mai an.", "Sie nicht."]),
    ("Dr. J. S. Bach spielt. Alle hören zu.", ["Dr. J. S. Bach spielt.", "Alle hören zu."]),
    ("Das kostet 3.50 Euro, z.B. hier. Ja.", ["Das kostet 3.50 Euro, z.B. hier.", "Ja."]),
    ("Äpfel, Birnen usw. gibt es.", ["Äpfel, Birnen usw. gibt es."]),
    ('"Really?" he asked. "Yes." She left.', ['"Really?" he asked.', '"Yes."', "She left."]),
    ("Wait… what? No!", ["Wait… what?", "No!"]),
    ("It was 1999. Then it ended.", ["It was 1999.", "Then it ended."]),
    ("So did I. We left.", ["So did I.", "We left."]),
    ("Mr. Smith met Mrs. Jones.", ["Mr. Smith met Mrs. Jones."]),
    ("(Er schlief.) Sie nicht.", ["(Er schlief.)", "Sie nicht."]),
    ("A heading\n\nA text", ["A heading", "A text"]),
    ("One line\nstill the same. Next.", ["One line still the same.", "Next."]),
    ("今日は。元気？はい", ["今日は。", "元気？", "はい"]),
    ("¿Qué? ¡Nada!", ["¿Qué?", "¡Nada!"]),
    ("", []),
    (" \n ", []),
]


@pytest.mark.parametrize(("text", "sentences"), CASES)
def test_sentences_end_where_a_reader_says(text, sentences):
    assert split_sentences(text) == sentences


@given(st.text(st.sampled_from('aB1 .!?\n"(…。')))
def test_only_white_space_is_lost(text):
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@given(st.text(st.sampled_from('aB1 .!?\n"(…')))
def test_cutting_again_changes_nothing(text):
    for sentence in split_sentences(text):
        assert len(split_sentences(sentence)) == 1
