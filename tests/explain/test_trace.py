"""A trace holds the equation's own weights, of every head, word for word."""

import numpy as np
import pytest

from regard.explain.alignment import (
    GoldAlignment,
    MapIndex,
    find_strongest,
    group_by_spaces,
    measure_agreement,
)
from regard.explain.trace import Trace, trace_translation
from regard.recipe.load import make
from regard.report.run import report_data
from regard.training.train import train

WORDS = {"eins": "one", "zwei": "two", "drei": "three", "vier": "four", "elf": "eleven"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    sides = [(f"{a} {b}", f"{WORDS[b]} {WORDS[a]}") for a in WORDS for b in WORDS]
    for side, name in enumerate(("a.de", "a.en")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in sides))
    recipe = make(
        {
            "task": "translation",
            "data": {"train": [str(folder / "a.de"), str(folder / "a.en")]},
            "text": {"vocabulary": 300},
            "model": {"width": 12, "depth": 1, "decoder_depth": 2, "feed_forward": 17}
            | {"mixer": {"kind": "attention", "heads": 3}},
            "training": {"budget": "3 steps", "threads": 1, "batch_tokens": 300},
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        return train(recipe, folder / "run")


def test_every_layer_and_head_is_there_and_every_row_sums_to_one(run):
    trace = trace_translation(run, "eins zwei", "two one")
    assert trace.weights.shape == (2, 3, len(trace.target), len(trace.source))
    assert trace.source[-1] == trace.target[-1] == "</s>"
    np.testing.assert_allclose(trace.weights.sum(-1), 1.0, rtol=1e-5)


def test_words_are_whole_and_their_rows_still_sum_to_one(run):
    words = trace_translation(run, "eins zwei", "two one").by_words()
    assert [word.strip("▁") for word in words.source] == ["eins", "zwei", "</s>"]
    assert [word.strip("▁") for word in words.target] == ["two", "one", "</s>"]
    np.testing.assert_allclose(words.weights.sum(-1), 1.0, rtol=1e-5)


def test_the_models_own_answer_is_traced_when_none_is_given(run):
    written = run.task.answer(run.model, ["eins zwei"])[0].ids
    trace = trace_translation(run, "eins zwei")
    assert list(trace.target[:-1]) == run.tokenizer.tokens(written)


def test_a_translation_never_seen_in_training_can_be_traced(run):
    assert trace_translation(run, "eins", "Qüx 日本").weights.any()


def test_merging_sums_over_source_pieces_and_averages_over_target_pieces():
    weights = np.array([[[[0.5, 0.25, 0.25], [0.1, 0.3, 0.6]]]], dtype=np.float32)
    pieces = (slice(0, 2), slice(2, 3))
    merged = Trace(("▁a", "b", "</s>"), ("▁x", "y"), weights, pieces, (slice(0, 2),)).by_words()
    np.testing.assert_allclose(merged.weights, [[[[0.575, 0.425]]]], rtol=1e-6)
    assert merged.source == ("▁ab", "</s>") and merged.target == ("▁xy",)


def test_words_between_spaces_leave_punctuation_and_the_end_aside():
    tokens = ("▁Der", "▁Hu", "nd", ",", "▁-", "</s>")
    assert group_by_spaces(tokens) == [[0], [1, 2], [4]]


def test_the_strongest_weight_of_a_word_is_found_over_its_pieces():
    tokens = ("▁a", "▁b", "c", "</s>")
    rows = [[0.4, 0.3, 0.25, 0.05], [0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7]]
    weights = np.array(rows, dtype=np.float32)
    trace = Trace(tokens, ("▁x", "▁y", "</s>"), weights[None, None], (), ())
    assert find_strongest(weights, trace) == [1, 0]


def test_agreement_counts_content_words_by_a_head_chosen_elsewhere(run, monkeypatch):
    golds = [GoldAlignment("eins zwei", "two one", ((0, 1), (1, 0)), (0, 1))]
    right = np.zeros((2, 3, 3, 3), dtype=np.float32)
    right[..., 0] = 0.9  # every other head attends to the first word, whatever it writes
    right[1, 2] = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    fixed = Trace(("▁eins", "▁zwei", "</s>"), ("▁two", "▁one", "</s>"), right, (), ())
    monkeypatch.setattr("regard.explain.alignment.trace_translation", lambda *_: fixed)
    found = measure_agreement(run, golds, golds)
    assert found == (MapIndex(1, 2), 1.0, 2)
    assert found.map.name == "layer 2, head 3"


def test_the_report_says_what_was_measured(run):
    data = report_data(run)
    assert {score.name for score in data.scores} == {"BLEU", "chrF"}
    assert data.attention.heads[0].name.startswith("mean")
    assert len(data.attention.heads) == 1 + 2 * 3
    assert data.panels and data.samples and data.version
