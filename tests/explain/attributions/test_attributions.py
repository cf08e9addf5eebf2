"""Attributions: complete, equal to what they are defined as, and on every kind of model."""

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.explain.alignment import MapIndex
from regard.explain.attributions import gradients
from regard.explain.attributions.attention import roll_out
from regard.explain.attributions.attribute import ATTRIBUTIONS, attribute, measure_faithfulness
from regard.explain.trace import trace_all


def question(run, *text, **options):
    return run.task.question(run.model, *text, **options)


DOCUMENT = "We came late. I found the book and the plot fine. It rained."
TEXTS = {
    "label": "the book and the plot are fine",
    "pool": "the book and the plot are fine",
    "recurrent": "the book and the plot are fine",
    "han": DOCUMENT,
    "context": DOCUMENT,
    "hops": DOCUMENT,
    "language": "the book and the plot are fine",
    "masked": "the book and the [MASK] are fine",
    "pair": "the book and the plot are fine\tthe hero and the plot are weak",
    "translation": "eins zwei",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_integrated_gradients_add_up_to_the_difference(explained, kind):
    asked = question(explained(kind), TEXTS[kind])
    found = attribute(asked, "integrated-gradients")
    assert found.scores.shape == (len(asked.answers), len(asked.words))
    whole = asked.evaluate([list(asked.ids)])[0]
    _, empty = gradients._sum_gradients(asked, [0.0], [0.0])
    np.testing.assert_allclose(
        found.scores.sum(1), whole - empty, atol=0.011 * max(1, abs(whole - empty).max())
    )


@pytest.mark.parametrize("kind", ["label", "han", "context", "hops", "language", "translation"])
def test_gradient_times_input_is_the_slope_along_the_words(explained, kind):
    asked = question(explained(kind), TEXTS[kind])
    step = 1e-2
    ends = [gradients._sum_gradients(asked, [share], [0.0])[1] for share in (1 - step, 1 + step)]
    slope = (ends[1] - ends[0]) / (2 * step)
    np.testing.assert_allclose(
        attribute(asked, "gradient").scores.sum(1), slope, rtol=0.05, atol=5e-3
    )


def test_special_tokens_stay_and_get_nothing(explained):
    asked = question(explained("label"), TEXTS["label"])
    assert asked.names[0] == "[CLS]" and 0 not in asked.erasable
    for name in ("gradient", "integrated-gradients", "occlusion"):
        assert attribute(asked, name).scores[0, 0] == attribute(asked, name).scores[0, -1] == 0


def test_occlusion_is_what_the_text_without_the_word_loses(explained):
    run = explained("label")
    asked = question(run, "the book is fine", label="good")
    word = asked.erasable[1]
    column = run.task.labels.names.index("good")
    with torch.inference_mode():
        whole, less = (
            run.task.states(run.model, run.task.encode_text(text))[0, column]
            for text in ("the book is fine", "the is fine")
        )
    assert asked.names[word] == "▁book"
    assert attribute(asked, "occlusion").scores[0, word] == pytest.approx(
        float(whole - less), abs=1e-5
    )


def test_rollout_by_hand_and_its_rows_are_whole():
    rng = np.random.default_rng(1)
    layers = rng.dirichlet(np.ones(5), size=(3, 2, 5))
    mean = [(one.mean(0) + np.eye(5)) / 2 for one in layers]
    np.testing.assert_allclose(roll_out(layers), mean[2] @ mean[1] @ mean[0], rtol=1e-12)
    np.testing.assert_allclose(roll_out(layers).sum(1), 1.0)


@pytest.mark.parametrize("kind", ["label", "pool", "pair", "language", "masked"])
def test_rollout_and_weights_of_one_text_sum_to_one(explained, kind):
    asked = question(explained(kind), TEXTS[kind])
    for name in ("rollout", "weights"):
        scores = attribute(asked, name).scores
        assert (scores >= 0).all() and (scores.sum(1) <= 1 + 1e-5).all()
        if kind != "language":  # there, what was written before takes a share
            np.testing.assert_allclose(scores.sum(1), 1.0, rtol=1e-5)


def test_the_weights_of_a_translation_are_the_traces_rows(explained):
    run = explained("translation")
    asked = question(run, "eins zwei", "two one")
    shown = MapIndex(1, 2)
    trace = trace_all(run, "eins zwei", "two one").main.by_words()
    np.testing.assert_allclose(
        attribute(asked, "weights", shown).scores, shown.select(trace), rtol=1e-5
    )
    rolled = attribute(asked, "rollout").scores
    assert (rolled.sum(1) < 1).all() and (rolled.sum(1) > 0.5).all()  # the rest is the past's


@pytest.mark.parametrize("kind", ["pool", "hops"])
def test_a_pooling_is_attributed_whatever_head_below_it_is_shown(explained, kind):
    asked = question(explained(kind), TEXTS[kind])
    whole, shown = attribute(asked, "weights"), attribute(asked, "weights", MapIndex(0, 2))
    np.testing.assert_array_equal(whole.scores, shown.scores)
    assert whole.description == shown.description


def test_without_attention_the_other_attributions_work(explained):
    asked = question(explained("recurrent"), TEXTS["recurrent"])
    for name in ATTRIBUTIONS:
        if name in ("weights", "rollout"):
            with pytest.raises(UsageError, match="This model has none"):
                attribute(asked, name)
        else:
            assert np.abs(attribute(asked, name).scores).max() > 0


def test_words_are_sums_of_their_pieces(explained):
    run = explained("label")
    whole = attribute(question(run, "a lovelybook", label="good"), "gradient").scores[0]
    pieces = question(run, "a lovelybook", pieces=True, label="good")
    apart = attribute(pieces, "gradient").scores[0]
    assert len(apart) > len(whole) and whole.sum() == pytest.approx(apart.sum(), rel=1e-4)


def test_faithfulness_is_measured_for_every_attribution(explained):
    asked = question(explained("label"), TEXTS["label"])
    for name in ATTRIBUTIONS:
        found = measure_faithfulness(asked, attribute(asked, name))
        whole = float(asked.evaluate([list(asked.ids)], score=asked.probability)[0])
        assert found.comprehensiveness.whole == pytest.approx(whole)
        assert "depend" in found.describe("good")


def test_a_text_without_a_mask_asks_nothing(explained):
    with pytest.raises(UsageError, match=r"needs a \[MASK\]"):
        question(explained("masked"), "the book is fine")
