import math

import pytest
import torch

from regard.decoding.search import greedy_search
from regard.decoding.steps import Limits
from regard.errors import RunError

from .toy import BEGIN, END, PAD, Toy, limits

SOURCES = range(11)


def greedy_by_hand(toy, source, longest):
    prefix = (BEGIN,)
    for _ in range(longest):
        logits = toy.logits(source, prefix)
        token = max((t for t in range(7) if t not in (BEGIN, PAD)), key=logits.__getitem__)
        if token == END:
            return list(prefix[1:]), True
        prefix = (*prefix, token)
    return list(prefix[1:]), False


def test_greedy_takes_the_likeliest_token_each_time():
    toy = Toy(SOURCES)
    answers = greedy_search(toy, 11, limits=limits(*[13] * 11))
    assert [(a.ids, a.finished) for a in answers] == [
        greedy_by_hand(toy, source, 13) for source in SOURCES
    ]
    assert any(a.finished for a in answers)


def test_the_log_probability_is_that_of_the_tokens_and_the_end():
    toy = Toy(SOURCES, dtype=torch.float64)
    for source, answer in enumerate(greedy_search(toy, 11, limits=limits(*[5] * 11))):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        assert answer.log_probability == pytest.approx(toy.log_probability(source, ids))
        assert answer.score == answer.log_probability


def test_a_row_alone_answers_as_it_does_in_a_batch():
    together = greedy_search(Toy(SOURCES), 11, limits=limits(*[13] * 11))
    alone = [greedy_search(Toy([source]), 1, limits=limits(13))[0] for source in SOURCES]
    assert together == alone


def test_every_row_has_its_own_limit_and_the_end_token_counts():
    longest = [1, 2, 3, 5, 7]
    answers = greedy_search(Toy(range(5), end_bias=-99), 5, limits=limits(*longest))
    assert [len(a.ids) for a in answers] == longest
    assert not any(a.finished for a in answers)
    (ends_at_once,) = greedy_search(Toy([0], end_bias=99), 1, limits=limits(1))
    assert ends_at_once.finished
    assert ends_at_once.ids == []


def test_rows_that_are_over_leave_the_batch():
    toy = Toy(range(5), end_bias=-99)
    greedy_search(toy, 5, limits=limits(1, 2, 2, 5, 7))
    assert toy.rows_per_step == [5, 4, 2, 2, 2, 1, 1]


def test_no_rows_give_no_answers():
    assert greedy_search(Toy([]), 0, limits=limits()) == []


def test_tokens_that_must_never_come_do_not_come_and_change_no_probability():
    banned = greedy_search(Toy(SOURCES), 11, limits=limits(*[13] * 11, never=(BEGIN, PAD, 3, 5)))
    assert {token for answer in banned for token in answer.ids} == {4, 6}
    toy = Toy(SOURCES)
    for source, answer in enumerate(banned):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        assert answer.log_probability == pytest.approx(toy.log_probability(source, ids), rel=1e-5)


def test_half_precision_logits_are_normalised_in_single_precision():
    toy = Toy([3], dtype=torch.bfloat16, end_bias=-99)
    (answer,) = greedy_search(toy, 1, limits=limits(1))
    logits = torch.tensor(toy.logits(3, (BEGIN,)), dtype=torch.bfloat16)
    assert answer.log_probability == logits.float().log_softmax(-1)[answer.ids[0]].item()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Limits(BEGIN, END, [5, 5]), "rows=3, 2 limits"),
        (Limits(BEGIN, END, [5, 0, 5]), "longest=0"),
        (Limits(BEGIN, END, [5, 5, 5], (END,)), "end=1"),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        greedy_search(Toy(range(3)), 3, limits=wrong)


def test_a_model_that_gives_no_numbers_is_refused():
    class Broken(Toy):
        def logits(self, source, prefix):
            return [math.nan] * 7

    with pytest.raises(RunError, match="finite log-probability"):
        greedy_search(Broken([0]), 1, limits=limits(3))


class Cancelling:
    """Cancels rows from a step on, and counts the steps."""

    def __init__(self, rows, step):
        self.rows, self.step, self.asked = rows, step, 0

    def __call__(self):
        self.asked += 1
        return self.rows if self.asked >= self.step else ()


@pytest.mark.parametrize("rows", [[2], [0, 3, 7], list(SOURCES)])
def test_a_cancelled_row_leaves_the_batch_and_the_others_do_not_notice(rows):
    plain = Toy(SOURCES, end_bias=-9.0)
    whole = greedy_search(plain, 11, limits=limits(*[13] * 11))
    toy, cancelling = Toy(SOURCES, end_bias=-9.0), Cancelling(rows, 5)
    found = greedy_search(toy, 11, limits=limits(*[13] * 11)._replace(cancelled=cancelling))
    for row, (answer, other) in enumerate(zip(found, whole, strict=True)):
        assert answer == other if row not in rows else answer.ids == other.ids[:5]
    assert toy.rows_per_step[:5] == [11] * 5
    assert toy.rows_per_step[5:] == [11 - len(rows)] * (8 if len(rows) < 11 else 0)
