"""Sentence pairs: one row of two texts, the longer one cut, segments, labels and scores."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import UsageError
from regard.recipe.load import make
from regard.tasks.kinds import KINDS, make_task, make_tokenizer
from regard.text import special

WORDS = [chr(ord("b") + n) * 2 for n in range(23)]
PAIRS = [("bb cc", "cc dd", "near"), ("bb cc", "ff gg", "far"), ("hh", "hh ii", "near")] * 5


def task_for(examples=PAIRS, *, longest=13, segments=2, **tables):
    data = {"train": ["x.tsv"], **tables.pop("data", {})}
    model = {
        "width": 12,
        "depth": 1,
        "feed_forward": 13,
        "mixer": {"kind": "attention", "heads": 2},
        "embedding": {"segments": segments},
    }
    text = {
        "tokenizer": "words",
        "vocabulary": 700,
        "max_length": longest,
        **tables.pop("text", {}),
    }
    recipe = make({"task": "sentence-pair", "data": data, "text": text, "model": model, **tables})
    recipe = KINDS["sentence-pair"].task.complete(recipe, lambda: iter(examples))
    every = [*examples, (" ".join(WORDS), "x", "near")]
    return make_task(recipe, make_tokenizer(recipe, lambda: iter(every)))


def model_of(task):
    torch.manual_seed(0)
    model = task.build()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval().requires_grad_(False)


def test_a_pair_is_one_row_and_every_place_knows_its_side():
    task = task_for()
    ((label, row),) = task.encode([("bb cc dd", "ff gg", "near")])
    marks = [at for at, id in enumerate(row) if id in (special.CLS, special.SEP)]
    assert marks == [0, 4, 7] and label == [1]
    segments = task.segments(torch.tensor([[*row, special.PAD]]))
    assert segments.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 1]]
    assert task_for(segments=0).segments(torch.tensor([row])) is None


def test_four_segments_tell_shared_tokens_too():
    ids = torch.tensor([[special.CLS, 10, 11, special.SEP, 11, 12, 11, special.SEP, special.PAD]])
    assert task_for(segments=4).segments(ids).tolist() == [[0, 0, 2, 0, 3, 1, 3, 1, 1]]


FITTING = task_for(text={"overlong": "head"})


@given(st.integers(0, 23), st.integers(0, 23))
def test_the_longer_text_is_cut_until_both_fit(first, second):
    tokens = ([10] * first, [11] * second)
    (row,) = FITTING.rows(tokens)
    kept = [row.count(10), row.count(11)]
    assert row == [special.CLS, *[10] * kept[0], special.SEP, *[11] * kept[1], special.SEP]
    if first + second <= 10:
        assert kept == [first, second]
    else:
        assert len(row) == 13
        assert kept[0] == first or kept[0] >= kept[1] or kept[0] == 5
        assert kept[1] == second or kept[1] >= kept[0] or kept[1] == 5
    assert FITTING.stored(tokens) == row


def test_a_pair_that_is_to_be_left_out_is_stored_whole():
    task = task_for()
    assert len(task.stored(([10] * 9, [11] * 9))) == 21 and task.longest == 13


def test_the_model_distinguishes_the_sides():
    task = task_for()
    model = model_of(task)
    one, other = (task.answer(model, [pair])[0] for pair in ("bb cc\tff", "ff\tbb cc"))
    assert abs(one.log_probability - other.log_probability) > 1e-4


def test_a_question_is_two_texts_with_a_tab_between():
    task = task_for()
    assert task.ask("bb cc\t dd ") == ("bb cc", "dd")
    for wrong in ("bb cc", "bb\tcc\tdd", "bb\t"):
        with pytest.raises(UsageError, match="separated by a tab"):
            task.ask(wrong)
    model = model_of(task)
    assert [answer.text for answer in task.answer(model, ["bb\tcc", ""])][1] == ""


def test_scores_are_answered_in_their_own_range():
    examples = [("bb cc dd", " ".join(WORDS[n : n + 3]), str(5 - n)) for n in range(5)] * 4
    task = task_for(examples, data={"scores": True})
    assert task.recipe.data.score_range == (1.0, 5.0)
    task.load_baseline(task.fit_baseline(lambda: iter(examples)))
    measured = task.measure(model_of(task), examples, quick=False)
    assert measured.baseline["spearman"] > 0.95
    assert set(measured.metrics) == {"spearman", "pearson", "loss"}
    answer = task.answer(model_of(task), ["bb\tcc"])[0]
    assert 1.0 <= float(answer.text) <= 5.0 and answer.probabilities == {}


def test_the_baseline_sees_what_the_texts_share():
    task = task_for()
    task.load_baseline(task.fit_baseline(lambda: iter(PAIRS)))
    measured = task.measure(model_of(task), PAIRS, quick=False)
    assert measured.baseline["accuracy"] == 1.0
    assert measured.details["labels"] == ["far", "near"]
