"""ROUGE against the package that defines it; leads and copies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.writing.lead import choose_lead, lead, lead_words
from regard.tasks.writing.novelty import novelty
from regard.tasks.writing.rouge import longest_common, mean_rouge, rouge

FEW = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat."]), max_size=13).map(" ".join)
ANY = st.text(alphabet=st.sampled_from("abcXYZ019 .,-'\n\tßéİ\u212a中"), max_size=40)


@given(st.one_of(FEW, ANY, st.text(max_size=30)), st.one_of(FEW, ANY, st.text(max_size=30)))
def test_scores_are_those_of_rouge_score(answer, reference):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(
        ["rouge1", "rouge2", "rougeL"], use_stemmer=False
    )
    expected = scorer.score(reference, answer)
    found = rouge(answer, reference)
    assert found.rouge1 == pytest.approx(expected["rouge1"].fmeasure, abs=1e-12)
    assert found.rouge2 == pytest.approx(expected["rouge2"].fmeasure, abs=1e-12)
    assert found.rougel == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)


def test_scores_by_hand():
    # 5 of 6 words shared either way; pairs: the-cat, on-the, the-mat of 5; in order: 5.
    found = rouge("The cat sat on the mat!", "the cat was on the mat")
    assert found == pytest.approx((5 / 6, 3 / 5, 5 / 6))
    assert rouge("", "a") == (0.0, 0.0, 0.0) == rouge("a", "!")
    assert mean_rouge([found, rouge("", "a")]) == pytest.approx((5 / 12, 3 / 10, 5 / 12))


@given(st.lists(st.integers(0, 3), max_size=17), st.lists(st.integers(0, 3), max_size=17))
def test_the_longest_common_sequence_is_that_of_the_table(first, second):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            reached = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = reached
    assert longest_common([*map(str, first)], [*map(str, second)]) == table[-1][-1]


def test_a_lead_is_the_first_sentences_or_words():
    text = "First of all, Dr. Who came. Then he left!\n\nNobody knew why."
    assert lead(text, 1) == "First of all, Dr. Who came."
    assert lead(text, 2) == "First of all, Dr. Who came. Then he left!"
    assert lead(text, 7).endswith("why.")
    assert lead_words(text, 3) == "First of all,"


@pytest.mark.parametrize(("words", "sentences"), [(1, 1), (5, 1), (7, 2), (9, 2), (99, 4)])
def test_the_lead_is_as_long_as_the_summaries_are(words, sentences):
    document = "One two three four. Five six seven eight. One two three. Five six."
    summary = " ".join(["x"] * words)
    assert choose_lead(lambda: iter([(document, summary)] * 3)) == sentences


def test_novelty_counts_what_the_document_does_not_have():
    found = novelty(["the cat sat on the mat"], ["The cat sat. A dog sat on"])
    # words the cat sat a dog sat on: a and dog are new; pairs sat-a, a-dog, dog-sat are new of 6
    assert found["words"] == 7 and found["copied"] == pytest.approx(5 / 7)
    assert found["novel_bigrams"] == pytest.approx(3 / 6)
    assert found["novel_trigrams"] == pytest.approx(4 / 5)
    assert novelty(["a"], [""])["novel_bigrams"] == 0.0
