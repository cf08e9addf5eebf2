"""Gradients of documents that are read in groups of sentences, against tables that are changed."""

import numpy as np
import pytest
import torch

import regard
from regard.explain.attributions import gradients
from regard.explain.attributions.attribute import attribute
from regard.models.han import group_by_length, unfold


def question(run, *text, **options):
    return run.task.question(run.model, *text, **options)


DOCUMENTS = pytest.mark.parametrize("kind", ["han", "context", "hops"])
TEXT = "I and my friends found the lovely book and the plot of it weak. We came. It rained."
"""The longest sentence first, so that the order of reading is not that of the text."""


@pytest.fixture
def asked(explained, kind):
    """Return a question about every token of the document, asked of a model in float64."""
    run = explained(kind)
    run.model.double()
    yield question(run, TEXT, pieces=True)
    del run.model  # it is read anew, in its own precision


def slope_along_a_row(asked, id, step=1e-5):
    """Change one token's row of the table a little, and see how the answer changes."""
    row, ends = asked.model.body.reading.table.data[id], []
    kept = row.clone()
    for share in (1 - step, 1 + step):
        row.copy_(share * kept)
        ends.append(asked.evaluate([list(asked.ids)])[0, 0])
    row.copy_(kept)
    return (ends[1] - ends[0]) / (2 * step)


@DOCUMENTS
def test_gradient_times_input_is_the_slope_along_each_tokens_row(asked, kind):
    scores = attribute(asked, "gradient").scores[0]
    special = asked.tokenizer.is_special
    once = [n for n, id in enumerate(asked.ids) if asked.ids.count(id) == 1 and not special(id)]
    assert len(once) > 7  # and these tell a token's place: the others only add up
    for id in {id for id in asked.ids if not special(id)}:
        found = sum(scores[n] for n, other in enumerate(asked.ids) if other == id)
        assert found == pytest.approx(slope_along_a_row(asked, id), rel=1e-5, abs=1e-9)
    assert all(scores[n] == 0 for n, id in enumerate(asked.ids) if special(id))


@pytest.mark.parametrize("kind", ["han", "context"])
def test_the_sentences_are_read_in_several_groups_and_another_order(asked, kind):
    ids = torch.tensor([asked.ids])
    unfolded = unfold(ids, torch.tensor([len(asked.ids)]), separators=asked.model.separators)
    assert [group.tolist() for group in group_by_length(unfolded)] == [[1, 2], [0]]


@DOCUMENTS
def test_integrated_gradients_add_up_whatever_is_asked_at_once(asked, kind, monkeypatch):
    whole = asked.evaluate([list(asked.ids)])[0]
    _, empty = gradients._sum_gradients(asked, [0.0], [0.0])
    together = attribute(asked, "integrated-gradients").scores
    assert together.sum() == pytest.approx(float(whole[0] - empty[0]), abs=0.011)
    monkeypatch.setattr(gradients, "TOKENS_AT_ONCE", 5 * len(asked.ids))
    np.testing.assert_allclose(attribute(asked, "integrated-gradients").scores, together, atol=1e-9)


@DOCUMENTS
def test_a_text_of_empty_words_is_one_whose_rows_are_zero(asked, kind):
    _, empty = gradients._sum_gradients(asked, [0.0], [0.0])
    table = asked.model.body.reading.table.data
    table[[id for id in asked.ids if not asked.tokenizer.is_special(id)]] = 0.0
    assert empty[0] == pytest.approx(asked.evaluate([list(asked.ids)])[0, 0], rel=1e-9)


@DOCUMENTS
@pytest.mark.parametrize("name", ["gradient", "integrated-gradients"])
def test_a_loaded_model_attributes_word_by_word_in_the_order_of_the_text(explained, kind, name):
    found = regard.load(explained(kind).folder).explain(TEXT, attribution=name)
    words = [word.strip("▁ ") for word in found.words if not word.startswith("[")]
    assert " ".join(words).replace(" .", ".") == TEXT
    assert found.attribution.name == name and found.attribution.scores.shape == (
        1,
        len(found.words),
    )
    assert np.abs(found.attribution.scores).max() > 0 and "depend" in found.sentence
    assert found.as_json()["attribution"]["name"] == name
