"""What a search may not produce: repeated runs, ends too early; and what looking again costs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.decoding.beam import beam
from regard.decoding.rules import obey
from regard.decoding.sampling import Choice, sample
from regard.decoding.search import greedy
from regard.decoding.steps import Limits

from .toy import BEGIN, END, PAD, Toy, every_finished_sequence, limits

SOURCES = range(13)


def has_repeated(ids, run):
    runs = [tuple(ids[at : at + run]) for at in range(len(ids) - run + 1)]
    return len(set(runs)) < len(runs)


@given(st.lists(st.integers(3, 6), max_size=9), st.integers(1, 4), st.integers(0, 9))
def test_exactly_the_tokens_that_would_repeat_a_run_are_forbidden(produced, run, shortest):
    log_p = torch.zeros(1, 7)
    rules = Limits(BEGIN, END, [11], shortest=(shortest,), no_repeat=run)
    obey(log_p, torch.tensor([produced], dtype=torch.long), torch.tensor([0]), limits=rules)
    for token in range(7):
        repeats = len(produced) >= run and any(
            produced[at : at + run] == [*produced, token][len(produced) + 1 - run :]
            for at in range(len(produced) - run + 1)
        )
        early = token == END and len(produced) < shortest
        assert (log_p[0, token] == -torch.inf) == (repeats or early)


@pytest.mark.parametrize("run", [1, 2, 3])
@pytest.mark.parametrize("search", ["greedy", "sample", "beam"])
def test_no_run_comes_twice(search, run):
    rules = limits(*[17] * 13)._replace(no_repeat=run)
    toy = Toy(SOURCES, vocabulary=6, end_bias=-3.0)
    if search == "greedy":
        answers = greedy(toy, 13, limits=rules)
    elif search == "sample":
        generator = torch.Generator().manual_seed(3)
        answers = sample(toy, 13, limits=rules, choice=Choice(), generator=generator)
    else:
        answers = [a for (a,) in beam(toy, 13, limits=rules, width=3, length_penalty=0.6)]
    assert not any(has_repeated(answer.ids, run) for answer in answers)
    free = greedy(Toy(SOURCES, vocabulary=6, end_bias=-3.0), 13, limits=limits(*[17] * 13))
    assert any(has_repeated(answer.ids, run) for answer in free)


def test_a_row_that_cannot_go_on_may_end_before_it_should():
    rules = limits(*[17] * 13)._replace(no_repeat=1, shortest=(9,) * 13)
    answers = greedy(Toy(SOURCES, vocabulary=6), 13, limits=rules)
    assert all(len(answer.ids) == 3 and answer.finished for answer in answers)  # 3, 4 and 5


@pytest.mark.parametrize(
    "search",
    [greedy, lambda *a, **k: [best[0] for best in beam(*a, **k, width=4, length_penalty=0.6)]],
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
    for source, (answer,) in enumerate(beam(toy, 13, limits=rules, width=3, length_penalty=0.6)):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        assert answer.log_probability == pytest.approx(toy.log_probability(source, ids))


class Looking(Toy):
    """A toy that looks: where, is fixed by source and prefix."""

    looked = None

    def look(self, source, prefix):
        torch.manual_seed(hash((source, prefix)) % 2**31)
        return torch.rand(5, dtype=torch.float64).mul(4).softmax(dim=0)

    def advance(self, newest):
        logits = super().advance(newest)
        self.looked = torch.stack([self.look(*row) for row in self.rows])
        return logits

    def cost(self, source, ids):
        covered, cost, prefix = torch.zeros(5).double(), 0.0, (BEGIN,)
        for token in ids:
            look = self.look(source, prefix)
            cost += torch.minimum(look, covered).sum().item()
            covered, prefix = covered + look, (*prefix, token)
        return cost


@pytest.mark.parametrize("weight", [0.0, 0.7, 5.0])
def test_with_coverage_a_beam_as_wide_as_the_space_is_exhaustive_search(weight):
    tokens, longest = [3, 4, 5], 5
    toy = Looking(range(5), vocabulary=6, dtype=torch.float64)
    found = beam(
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
        for answer in answers:  # what was paid is no part of the model's own probability
            own = toy.log_probability(source, (*answer.ids, END))
            assert answer.log_probability == pytest.approx(own)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_narrow_beam_keeps_account_of_every_row(width):
    toy = Looking(SOURCES, dtype=torch.float64)
    rules = limits(*[7] * 13)
    found = beam(toy, 13, limits=rules, width=width, length_penalty=0.6, coverage=2.0)
    for source, (answer,) in enumerate(found):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        own = toy.log_probability(source, ids)
        assert answer.log_probability == pytest.approx(own)
        score = (own - 2.0 * toy.cost(source, ids)) / ((5 + len(ids)) / 6) ** 0.6
        assert answer.score == pytest.approx(score)


@pytest.mark.parametrize("weight", [-1.0, 1.0])
def test_coverage_needs_a_model_that_looks_and_costs_nothing_less_than_nothing(weight):
    steps = Looking([0]) if weight < 0 else Toy([0])
    with pytest.raises(ValueError, match="coverage"):
        beam(steps, 1, limits=limits(3), width=2, length_penalty=0.6, coverage=weight)


@pytest.mark.parametrize(
    ("rules", "words"), [({"shortest": (1, 2)}, "rows=1, 2"), ({"no_repeat": -1}, "no_repeat=-1")]
)
def test_rules_that_make_no_sense_are_refused(rules, words):
    with pytest.raises(ValueError, match=words):
        greedy(Toy([0]), 1, limits=Limits(BEGIN, END, [3], (PAD,))._replace(**rules))
