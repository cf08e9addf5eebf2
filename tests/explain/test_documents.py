"""Documents: what is drawn is what is attributed, and faithfulness is shown once."""

import numpy as np
import pytest

from regard.explain.attributions.attribute import attribute
from regard.explain.document_attention import record_document
from regard.explain.documents import draw_document
from regard.explain.explain import ExplainOptions, explain


def question(run, *text, **options):
    return run.task.question(run.model, *text, **options)


TEXT = "We came late. I found the book and the plot fine. It rained."
BY_WEIGHTS = ExplainOptions("weights")
DOCUMENTS = pytest.mark.parametrize("kind", ["han", "context", "hops"])


@DOCUMENTS
def test_the_words_drawn_have_the_scores_of_the_attribution_by_weights(explained, kind):
    run = explained(kind)
    document, asked = record_document(run, TEXT), question(run, TEXT)
    scores = attribute(asked, "weights").scores[0, list(asked.erasable)]
    np.testing.assert_allclose(scores, document.scores, rtol=1e-5)
    names = [asked.names[n].strip("▁") for n in asked.erasable]
    assert names == list(document.words)


@pytest.mark.parametrize("kind", ["han", "context"])
def test_every_sentence_has_its_words_and_its_weights_sum_to_one(explained, kind):
    document = record_document(explained(kind), TEXT)
    sentences = [one.split() for one in TEXT.replace(".", " .,").split(",")[:-1]]
    assert document.sentence == tuple(n for n, one in enumerate(sentences) for _ in one)
    shares = np.bincount(document.sentence, document.word_weights[0])
    np.testing.assert_allclose(shares, 1.0, rtol=1e-5)
    assert document.scores.sum() == pytest.approx(1.0, rel=1e-5)


@DOCUMENTS
def test_the_document_says_the_same_as_the_explanation(explained, kind):
    run = explained(kind)
    found, picture = explain(run, TEXT, options=BY_WEIGHTS), draw_document(run, TEXT)
    assert picture.faithfulness == found.sentence
    whole = found.as_json()
    assert {"answer", "views", "attribution", "faithfulness", "text", "weights"} <= whole.keys()
    assert whole["views"] == picture.as_json()["views"]
    assert ("overlap" in whole) == (kind == "hops")
    page = found.html()
    assert page.count("Faithfulness of the attention weights. ") == 1
    assert "Attribution by" not in page and "Faithfulness. " not in page


@DOCUMENTS
def test_another_label_is_shown_with_the_document_and_nothing_is_erased_twice(explained, kind):
    run = explained(kind)
    answers = 0

    def count(_model, _given, _answered):
        nonlocal answers
        answers += 1

    hook = run.model.register_forward_hook(count)
    found = explain(run, TEXT, options=BY_WEIGHTS)
    once, answers = answers, 0
    other = next(name for name in run.task.labels.names if name != found.answer)
    second = explain(run, TEXT, options=ExplainOptions("weights", label=other))
    hook.remove()
    assert found.drawn_whole and not second.drawn_whole
    assert f'"{other}"' in second.sentence and second.document.faithfulness == found.sentence
    assert "Attribution by" not in found.html() and other in second.html()
    assert once < answers
