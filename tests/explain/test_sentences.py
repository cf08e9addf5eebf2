"""Explanations end to end: the default attribution, the sentence, and what a page says."""

import html
import json
import re

import numpy as np
import pytest

from regard.explain.documents import describe_mean
from regard.explain.erasure import MeanErasure
from regard.explain.explain import ExplainOptions, explain
from regard.explain.explanation import Explanation
from regard.explain.output_erasure import OutputFaithfulness
from regard.inference.predictor import load_run

DOCUMENT = "We came late. I found the book and the plot fine. It rained."
TEXT = "the book and the plot are fine"
PAIR = f"{TEXT}\tthe hero and the plot are weak"
TEXTS = {
    "label": TEXT,
    "ensemble": TEXT,
    "several": TEXT,
    "score": PAIR,
    "pool": TEXT,
    "recurrent": TEXT,
    "han": DOCUMENT,
    "hops": DOCUMENT,
    "pair": PAIR,
    "tagging": TEXT,
    "language": TEXT,
    "masked": "the book and the [MASK] are fine",
    "translation": "eins zwei drei",
}
TARGETS = {"translation": "three two one"}
WRITERS = ("language", "translation")


@pytest.mark.parametrize("kind", TEXTS)
def test_an_explanation_says_what_follows_from_its_numbers(explained, kind):
    found = explain(explained(kind), TEXTS[kind], TARGETS.get(kind))
    others = dict.fromkeys((*WRITERS, "masked"), "weights") | {"tagging": "occlusion"}
    assert found.attribution.name == others.get(kind, "integrated-gradients")
    tested, sentence = found.faithfulness, found.sentence
    assert re.search(r"\bdepends?\b", sentence)
    assert ("not depend" in sentence or "no more" in sentence or "None of" in sentence) == (
        not (tested.dependent if isinstance(tested, OutputFaithfulness) else tested.faithful)
    )
    assert isinstance(tested, OutputFaithfulness) == (kind in (*WRITERS, "masked", "tagging"))
    for fragment in ("1 words", "these 1", "0 other", "score of the", "nan"):
        assert fragment not in sentence
    assert found.as_json()["faithfulness"]["sentence"] == sentence


@pytest.mark.parametrize("kind", TEXTS)
def test_only_pages_of_generating_models_mention_written_words(explained, kind):
    page = explain(explained(kind), TEXTS[kind], TARGETS.get(kind)).html()
    assert ("the model wrote" in page) == (kind == "translation")
    assert ("written word" in page) == (kind == "translation")


def test_the_end_of_a_translation_is_no_written_word(explained):
    run = explained("translation")
    found = explain(run, TEXTS["translation"], TARGETS["translation"])
    assert found.answers[-1] == "</s>"
    assert "or none written" in explain(run, "eins zwei", "").sentence
    tested = [one.output for one in found.faithfulness.outputs]
    assert tested == ["▁three", "▁two", "▁one"] and "of the 3 written words" in found.sentence
    page = found.html()
    assert "attributed to" in page and page.count("<td>") == 6 * 3


@pytest.mark.parametrize(
    ("kind", "stack", "words"),
    [
        ("label", "self", "a word that is visible to it"),
        ("hops", "pool", "Each row is a hop of the pooling"),
        ("han", "words", "Each row is a sentence"),
        ("translation", "cross", "Each row is a word that the model wrote"),
    ],
)
def test_the_caption_is_that_of_the_stack_shown(explained, kind, stack, words):
    page = explain(
        explained(kind), TEXTS[kind], TARGETS.get(kind), ExplainOptions(head=stack)
    ).html()
    caption = re.search(r'<span id="regard-caption">(.*?)</span>', page)[1]
    assert words in html.unescape(caption)
    block = json.loads(re.search(r'id="regard-data">(.*?)</script>', page)[1])
    assert block["stacks"][0]["caption"] == html.unescape(caption)
    assert len({one["caption"] for one in block["stacks"]}) >= len(block["stacks"]) - 1


def test_the_mean_over_documents_has_its_signs():
    mean = MeanErasure(20, 0.031, -0.012, 0.043, 0.02, 0.06)
    said = describe_mean(mean)
    assert "Over 20 held-out documents" in said and "changes by -3.1 points" in said
    assert "by +1.2 without" in said and "difference of -4.3 (95% interval -6.0 to -2.0)" in said
    assert "Over 1 held-out document," in describe_mean(mean._replace(texts=1))


def test_progress_is_reported_until_all_is_read(explained):
    seen = []
    explain(explained("label"), TEXT, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == [32, 64, 83] and {total for _, total in seen} == {83}


def test_a_score_is_explained_as_a_score(explained):
    found = explain(explained("score"), PAIR)
    value = float(found.answer)
    assert found.sentence.startswith(f"The score of {value:.3g} d") and 1 <= value <= 4
    assert "probability" not in found.sentence


def test_low_scores_are_explained_by_the_words_that_lower_them(explained):
    run = explained("score")
    found = explain(run, PAIR)
    low, high = found.faithfulness.score_range
    share = (float(found.answer) - 1) / 3
    assert (low, high) == ((1.0, 4.0) if share >= 1 / 2 else (4.0, 1.0))
    ranked = np.argsort(found.attribution.by_word())
    first = ranked[-1] if share >= 1 / 2 else ranked[0]
    assert found.faithfulness.erased[0] == found.words[first]


def test_an_ensemble_is_explained_whole(explained):
    run = explained("ensemble")
    found = explain(run, TEXT)
    answered = run.task.answer(run.model, [TEXT])[0]
    assert found.answer == answered.text
    whole = found.faithfulness.comprehensiveness.whole
    assert whole == pytest.approx(answered.probabilities[answered.text], abs=1e-5)
    assert [one.name for one in found.members] == ["this run's network", "the n-gram baseline"]
    assert "by each member alone" in found.members_sentence
    assert found.members_sentence.count("(weight 50%)") == 2
    assert found.members_sentence in html.unescape(found.html())
    alone = explain(explained("label"), TEXT)
    assert alone.members == () and alone.members_sentence == ""


def test_words_that_only_the_baseline_reads_count_in_every_attribution(explained):
    run = explained("ensemble")
    for parameter in run.model.parameters():
        parameter.data.zero_()
    try:
        for name in ("occlusion", "gradient", "integrated-gradients"):
            scores = explain_by(run, name).attribution.by_word()
            words = explain_by(run, name).words
            assert words[int(np.abs(scores).argmax())] == "▁fine"
    finally:
        del run.model


def explain_by(run, name) -> Explanation:
    return explain(run, TEXT, options=ExplainOptions(attribution=name))


def test_another_run_answers_and_is_explained_too(explained):
    label, other = explained("label"), explained("recurrent")
    run = load_run(label.folder, ensemble=[other.folder])
    found = explain(run, TEXT)
    answered = run.task.answer(run.model, [TEXT])[0]
    assert found.faithfulness.comprehensiveness.whole == pytest.approx(
        answered.probabilities[answered.text], abs=1e-5
    )
    assert [one.name for one in found.members] == ["this run's network", "the other network"]
    assert [one.weight for one in found.members] == [0.5, 0.5]
    assert found.members[1].probability == pytest.approx(
        explain(other, TEXT, options=ExplainOptions(label=found.answer)).faithfulness[0].whole,
        abs=1e-5,
    )


def test_the_words_of_a_label_are_drawn_as_bars_on_both_sides_of_zero(explained):
    found = explain(explained("label"), TEXT)
    drawn = found.bars()
    assert drawn is not None and 'integrated-gradients for "' in drawn.title
    assert len(drawn.rows) == np.count_nonzero(found.attribution.scores)
    assert explain_by(explained("label"), "weights").bars() is None
