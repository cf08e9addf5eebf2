import itertools
import math
from collections import Counter

import pytest
import torch

from regard.decoding.sampling import SamplingParameters, draw, sample, truncate
from regard.decoding.search import greedy_search

from .toy import BEGIN, END, PAD, Toy, every_finished_sequence, limits


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def within_binomial_bounds(count, probability, draws):
    return abs(count - draws * probability) <= 4.5 * math.sqrt(draws * probability) + 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
def test_tokens_come_as_often_as_the_distribution_says(temperature):
    logits = torch.randn(1, 11, generator=seeded(3), dtype=torch.float64)
    draws = torch.rand(40_009, generator=seeded(5), dtype=torch.float64)
    parameters = SamplingParameters(temperature=temperature)
    tokens = draw(logits.log_softmax(-1).expand(40_009, -1), draws, parameters=parameters)
    expected = (logits[0] / temperature).softmax(-1).tolist()
    for token, probability in enumerate(expected):
        assert within_binomial_bounds((tokens == token).sum().item(), probability, 40_009)


def test_whole_sequences_come_as_often_as_the_model_says():
    toy, rows = Toy([7] * 3001, vocabulary=5, end_bias=0.5), 3001
    answers = sample(
        toy,
        rows,
        limits=limits(*[3] * rows, never=()),
        parameters=SamplingParameters(),
        generator=seeded(),
    )
    counts = Counter((tuple(a.ids), a.finished) for a in answers)
    for ids in every_finished_sequence([0, 2, 3, 4], 3):
        probability = math.exp(toy.log_probability(7, (*ids, END)))
        assert within_binomial_bounds(counts[ids, True], probability, rows)
    for ids in itertools.product([0, 2, 3, 4], repeat=3):
        probability = math.exp(toy.log_probability(7, ids))
        assert within_binomial_bounds(counts[ids, False], probability, rows)


P = [0.05, 0.4, 0.1, 0.3, 0.15]  # by rank: tokens 1, 3, 4, 2, 0


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (SamplingParameters(), {0, 1, 2, 3, 4}),
        (SamplingParameters(top_k=1), {1}),
        (SamplingParameters(top_k=3), {1, 3, 4}),
        (SamplingParameters(top_k=99), {0, 1, 2, 3, 4}),
        (SamplingParameters(top_p=0.3), {1}),
        (SamplingParameters(top_p=0.69), {1, 3}),
        (SamplingParameters(top_p=0.71), {1, 3, 4}),
        (SamplingParameters(top_p=0.9499), {1, 2, 3, 4}),
        (SamplingParameters(top_p=0.96), {0, 1, 2, 3, 4}),
        (
            SamplingParameters(top_k=2, top_p=0.56),
            {1},
        ),  # of the two, token 1 holds 0.4 / 0.7 = 0.571
        (SamplingParameters(top_k=2, top_p=0.58), {1, 3}),
        (
            SamplingParameters(temperature=0.25, top_p=0.7),
            {1},
        ),  # sharpened first: token 1 holds 0.744
        (SamplingParameters(temperature=4.0, top_p=0.7), {1, 3, 4, 2}),
    ],
)
def test_only_the_tokens_that_may_be_drawn_are_drawn(parameters, expected):
    log_p = torch.tensor([P], dtype=torch.float64).log()
    kept, tokens = truncate(log_p, parameters=parameters)
    names = torch.arange(5)[None] if tokens is None else tokens
    assert set(names[kept > 0].tolist()) == expected
    draws = torch.linspace(0, 1 - 1e-12, 2003, dtype=torch.float64)
    assert set(draw(log_p.expand(2003, -1), draws, parameters=parameters).tolist()) == expected


def test_what_is_cut_off_is_shared_out_in_proportion():
    log_p = torch.tensor([P], dtype=torch.float64).log()
    draws = torch.rand(20_011, generator=seeded(1), dtype=torch.float64)
    tokens = draw(log_p.expand(20_011, -1), draws, parameters=SamplingParameters(top_k=2))
    assert within_binomial_bounds((tokens == 1).sum().item(), 0.4 / 0.7, 20_011)


def test_the_same_seed_gives_the_same_answers_and_another_gives_others():
    def answers(seed):
        toy = Toy(range(13))
        return sample(
            toy,
            13,
            limits=limits(*[11] * 13),
            parameters=SamplingParameters(),
            generator=seeded(seed),
        )

    assert answers(2) == answers(2)
    assert answers(2) != answers(3)


def test_rows_draw_differently_from_one_generator():
    answers = sample(
        Toy([5] * 13),
        13,
        limits=limits(*[11] * 13),
        parameters=SamplingParameters(),
        generator=seeded(),
    )
    assert len({tuple(a.ids) for a in answers}) > 7


def test_a_row_alone_answers_as_it_does_in_a_batch():
    longest = [7, 2, 11, 5, 13]
    together = sample(
        Toy(range(5)),
        5,
        limits=limits(*longest),
        parameters=SamplingParameters(top_k=4),
        generator=[seeded(row) for row in range(5)],
    )
    for row in range(5):
        alone = sample(
            Toy([row]),
            1,
            limits=limits(longest[row]),
            parameters=SamplingParameters(top_k=4),
            generator=[seeded(row)],
        )
        assert alone == [together[row]]


def test_a_row_does_not_feel_how_long_the_others_may_be():
    def last(first_limit):
        limit = limits(first_limit, 11)
        return sample(
            Toy([0, 1]), 2, limits=limit, parameters=SamplingParameters(), generator=seeded()
        )[1]

    assert last(1) == last(13)


def test_one_candidate_is_greedy():
    expected = greedy_search(Toy(range(7)), 7, limits=limits(*[11] * 7))
    for parameters in (
        SamplingParameters(top_k=1),
        SamplingParameters(top_p=1e-9),
        SamplingParameters(temperature=1e-4),
    ):
        found = sample(
            Toy(range(7)), 7, limits=limits(*[11] * 7), parameters=parameters, generator=seeded()
        )
        assert found == expected


def test_the_log_probability_is_the_models_own_whatever_the_temperature():
    toy = Toy(range(7), dtype=torch.float64)
    parameters = SamplingParameters(temperature=1.9, top_k=5)
    answers = sample(toy, 7, limits=limits(*[7] * 7), parameters=parameters, generator=seeded())
    for source, answer in enumerate(answers):
        ids = [*answer.ids, END] if answer.finished else answer.ids
        assert answer.log_probability == pytest.approx(toy.log_probability(source, ids))


def test_tokens_that_must_never_come_do_not_come():
    answers = sample(
        Toy(range(101), end_bias=-2.0),
        101,
        limits=limits(*[7] * 101, never=(BEGIN, PAD, 4)),
        parameters=SamplingParameters(temperature=5.0),
        generator=seeded(),
    )
    assert {token for answer in answers for token in answer.ids} == {3, 5, 6}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (SamplingParameters(temperature=0.0), "temperature must be above 0"),
        (SamplingParameters(top_k=-1), "top_k"),
        (SamplingParameters(top_p=0.0), "top_p"),
        (SamplingParameters(top_p=1.5), "top_p"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        sample(Toy([0]), 1, limits=limits(3), parameters=parameters, generator=seeded())


def test_too_few_generators_are_refused():
    with pytest.raises(ValueError, match="2 generators for 3 rows"):
        sample(
            Toy(range(3)),
            3,
            limits=limits(5, 5, 5),
            parameters=SamplingParameters(),
            generator=[seeded(), seeded()],
        )


def test_an_impossible_token_is_not_drawn_even_by_the_smallest_number():
    log_p = torch.tensor([[-torch.inf, 0.0]], dtype=torch.float64)
    assert draw(
        log_p, torch.zeros(1, dtype=torch.float64), parameters=SamplingParameters()
    ).tolist() == [1]


def test_the_fewest_tokens_that_hold_top_p_are_enough():
    uniform = torch.zeros(1, 4, dtype=torch.float64)
    kept, _ = truncate(uniform, parameters=SamplingParameters(top_p=0.5))
    assert (kept > 0).sum().item() == 2
