"""Constraints on a search: no repeated n-grams, minimum lengths; and the coverage penalty."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.decoding.beam import beam_search
from regard.decoding.rules import apply_rules
from regard.decoding.sampling import SamplingParameters, sample
from regard.decoding.search import greedy_search
from regard.decoding.steps import Limits

from .toy import BEGIN, END, PAD, Toy, every_finished_sequence, limits

SOURCES = range(13)


def has_repeated(ids, size):
    ngrams = [tuple(ids[at : at + size]) for at in range(len(ids) - size + 1)]
    return len(set(ngrams)) < len(ngrams)


@given(st.lists(st.integers(3, 6), max_size=9), st.integers(1, 4), st.integers(0, 9))
def test_exactly_the_tokens_that_would_repeat_an_ngram_are_forbidden(produced, size, shortest):
    log_p = torch.zeros(1, 7)
    rules = Limits(BEGIN, END, [11], shortest=(shortest,), no_repeat=size)
    apply_rules(log_p, torch.tensor([produced], dtype=torch.long), torch.tensor([0]), limits=rules)
    for token in range(7):
        repeats = len(produced) >= size and any(
            produced[at : at + size] == [*produced, token][len(produced) + 1 - size :]
            for at in range(len(produced) - size + 1)
        )
        early = token == END and len(produced) < shortest
        assert (log_p[0, token] == -torch.inf) == (repeats or early)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("search", ["greedy", "sample", "beam"])
def test_no_ngram_repeats(search, size):
    rules = limits(*[17] * 13)._replace(no_repeat=size)
    toy = Toy(SOURCES, vocabulary=6, end_bias=-3.0)
    if search == "greedy":
        answers = greedy_search(toy, 13, limits=rules)
    elif search == "sample":
        generator = torch.Generator().manual_seed(3)
        answers = sample(
            toy, 13, limits=rules, parameters=SamplingParameters(), generator=generator
        )
    else:
        answers = [a for (a,) in beam_search(toy, 13, limits=rules, width=3, length_penalty=0.6)]
    assert not any(has_repeated(answer.ids, size) for answer in answers)
    free = greedy_search(Toy(SOURCES, vocabulary=6, end_bias=-3.0), 13, limits=limits(*[17] * 13))
    assert any(has_repeated(answer.ids, size) for answer in free)


def test_a_row_without_allowed_tokens_may_end_early():
    rules = limits(*[17] * 13)._replace(no_repeat=1, shortest=(9,) * 13)
    answers = greedy_search(Toy(SOURCES, vocabulary=6), 13, limits=rules)
    assert all(len(answer.ids) == 3 and answer.finished for answer in answers)  # 3, 4 and 5


@pytest.mark.parametrize(
    "search",
    [
        greedy_search,
        lambda *a, **k: [best[0] for best in beam_search(*a, **k, width=4, length_penalty=0.6)],
    ],
)
def test_no_answer_is_shorter_than_its_row_allows(search):
    shortest = tuple(number % 7 for number in SOURCES)
    rules = limits(*[11] * 13)._replace(shortest=shortest)
    answers = search(Toy(SOURCES, end_bias=3.0), 13, limits=rules)
    assert all(len(a.ids) >= least for a, least in zip(answers, shortest, strict=True))
    assert all(len(answers[row].ids) < 7 for row in (0, 7))  # where nothing holds them, they end


def test_rules_do_not_change_what_a_log_probability_is():
    toy = Toy(SOURCES, dtype=torch.float64, end_bias=2.0)
    rules = limits(*[7] * 13)._replace(shortest=(3,) * 13, no_repeat=2)
    for source, (answer,) in enumerate(
        beam_search(toy, 13, limits=rules, width=3, length_penalty=0.6)
    ):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        assert answer.log_probability == pytest.approx(toy.log_probability(source, ids))


class Attending(Toy):
    """A toy with source attention, which source and prefix determine."""

    source_attention = None

    def attend(self, source, prefix):
        torch.manual_seed(hash((source, prefix)) % 2**31)
        return torch.rand(5, dtype=torch.float64).mul(4).softmax(dim=0)

    def advance(self, newest):
        logits = super().advance(newest)
        self.source_attention = torch.stack([self.attend(*row) for row in self.rows])
        return logits

    def cost(self, source, ids):
        covered, cost, prefix = torch.zeros(5).double(), 0.0, (BEGIN,)
        for token in ids:
            attention = self.attend(source, prefix)
            cost += torch.minimum(attention, covered).sum().item()
            covered, prefix = covered + attention, (*prefix, token)
        return cost


@pytest.mark.parametrize("weight", [0.0, 0.7, 5.0])
def test_with_coverage_a_beam_as_wide_as_the_space_is_exhaustive_search(weight):
    tokens, longest = [3, 4, 5], 5
    toy = Attending(range(5), vocabulary=6, dtype=torch.float64)
    found = beam_search(
        toy,
        5,
        limits=limits(*[longest] * 5),
        width=3**longest,
        length_penalty=0.6,
        best=3,
        coverage=weight,
    )
    for source, answers in enumerate(found):
        scored = []
        for ids in every_finished_sequence(tokens, longest):
            total = toy.log_probability(source, (*ids, END)) - weight * toy.cost(
                source, (*ids, END)
            )
            scored.append((total / ((6 + len(ids)) / 6) ** 0.6, list(ids)))
        expected = sorted(scored, reverse=True)[:3]
        assert [a.ids for a in answers] == [ids for _, ids in expected]
        assert [a.score for a in answers] == pytest.approx([score for score, _ in expected])
        for answer in answers:  # the penalty is no part of the model's own probability
            own = toy.log_probability(source, (*answer.ids, END))
            assert answer.log_probability == pytest.approx(own)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_narrow_beam_penalises_every_row(width):
    toy = Attending(SOURCES, dtype=torch.float64)
    rules = limits(*[7] * 13)
    found = beam_search(toy, 13, limits=rules, width=width, length_penalty=0.6, coverage=2.0)
    for source, (answer,) in enumerate(found):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        own = toy.log_probability(source, ids)
        assert answer.log_probability == pytest.approx(own)
        score = (own - 2.0 * toy.cost(source, ids)) / ((5 + len(ids)) / 6) ** 0.6
        assert answer.score == pytest.approx(score)


@pytest.mark.parametrize("weight", [-1.0, 1.0])
def test_coverage_needs_source_attention_and_a_weight_of_at_least_zero(weight):
    steps = Attending([0]) if weight < 0 else Toy([0])
    with pytest.raises(ValueError, match="coverage"):
        beam_search(steps, 1, limits=limits(3), width=2, length_penalty=0.6, coverage=weight)


@pytest.mark.parametrize(
    ("rules", "words"), [({"shortest": (1, 2)}, "rows=1, 2"), ({"no_repeat": -1}, "no_repeat=-1")]
)
def test_rules_that_make_no_sense_are_refused(rules, words):
    with pytest.raises(ValueError, match=words):
        greedy_search(Toy([0]), 1, limits=Limits(BEGIN, END, [3], (PAD,))._replace(**rules))
