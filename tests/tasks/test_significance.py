"""Tests of significance, on cases whose answer is known."""

import math
import random

import numpy as np
import pytest

from regard.tasks.significance import (
    compare_paired,
    interval,
    paired_corpus,
    seeds_differ,
    t_quantile,
    t_within,
)

PUBLISHED = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 10: 2.2281, 30: 2.0423}


@pytest.mark.parametrize("freedom", PUBLISHED)
def test_students_quantiles_are_the_published_ones(freedom):
    assert t_quantile(0.95, freedom) == pytest.approx(PUBLISHED[freedom], abs=6e-5)


def test_with_much_freedom_students_distribution_is_the_normal_one():
    assert t_within(1.0, 10_000) == pytest.approx(math.erf(1 / math.sqrt(2)), abs=1e-4)
    assert t_within(0.0, 3) == 0.0


def test_an_interval_is_students():
    found = interval([1.0, 2.0, 3.0, 6.0])
    assert found.mean == 3.0 and found.seeds == 4
    assert found.half == pytest.approx(3.18245 * math.sqrt(14 / 3 / 4), abs=1e-4)
    assert interval([5.0]) == (5.0, None, 1)
    assert interval([5.0, 5.0]).half == 0.0


def test_an_interval_holds_the_truth_nineteen_times_of_twenty():
    draw = random.Random(1)
    held = 0
    for _ in range(2000):
        found = interval([draw.gauss(7, 3) for _ in range(5)])
        held += abs(found.mean - 7) <= found.half
    assert 0.935 <= held / 2000 <= 0.965


def test_seeds_that_scatter_as_much_as_they_differ_may_be_chance():
    assert seeds_differ([1.0, 2.0, 3.0], [2.0, 3.0, 1.0]) == pytest.approx(1.0)
    assert seeds_differ([1.0, 1.1, 0.9], [5.0, 5.1, 4.9]) < 0.001
    assert seeds_differ([1.0, 2.0], [1.0]) is None
    assert seeds_differ([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert seeds_differ([1.0, 1.0], [2.0, 2.0]) == 0.0


def answers(share, count=500, seed=0):
    draw = random.Random(seed)
    return [float(draw.random() < share) for _ in range(count)]


def test_the_same_answers_are_no_difference():
    found = compare_paired(answers(0.7), answers(0.7))
    assert found == (0.0, 1.0, 1.0, (0.0, 0.0))


def test_the_interval_of_a_difference_is_that_of_the_normal_distribution():
    better, worse = answers(0.8), answers(0.6, seed=1)
    low, high = compare_paired(better, worse).interval
    apart = np.subtract(better, worse)
    half = 1.96 * apart.std() / math.sqrt(len(apart))
    assert low == pytest.approx(apart.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(apart.mean() + half, abs=0.1 * half)
    turned = compare_paired(worse, better).interval
    assert turned == pytest.approx((-high, -low))


def test_as_many_right_but_other_ones_is_no_difference():
    right = answers(0.5, 400)
    found = compare_paired(right, right[::-1])
    assert found.bootstrap > 0.9 and found.randomisation > 0.9


@pytest.mark.parametrize("turned", [False, True])
def test_a_clear_difference_is_no_chance_either_way_round(turned):
    better, worse = answers(0.8), answers(0.6, seed=1)
    found = compare_paired(worse, better) if turned else compare_paired(better, worse)
    assert found.bootstrap < 0.01 and found.randomisation < 0.01
    assert (found.difference < 0) == turned


def test_the_tests_agree_with_the_sign_test_where_only_signs_count():
    # 14 of 20 differences favour the first: two-sided binomial p = 0.1153
    first = [1.0] * 14 + [0.0] * 6
    found = compare_paired(first, [1.0 - score for score in first])
    assert found.randomisation == pytest.approx(0.1153, abs=0.02)


def test_p_is_spread_evenly_where_there_is_no_difference():
    small = sum(
        compare_paired(answers(0.5, 60, seed), answers(0.5, 60, seed + 1000)).randomisation < 0.1
        for seed in range(100)
    )
    assert 1 <= small <= 20


def test_the_same_question_gets_the_same_answer():
    assert compare_paired(answers(0.7), answers(0.65, seed=3)) == compare_paired(
        answers(0.7), answers(0.65, seed=3)
    )


def test_translations_are_compared_by_sacrebleus_own_tests():
    draw = random.Random(2)
    words = ["the", "dog", "sees", "a", "cat", "and", "runs", "home", "with", "my", "old", "red"]
    references = [" ".join(draw.choices(words, k=8)) for _ in range(60)]
    spoiled = [" ".join(draw.sample(text.split(), 8)) for text in references]
    same = paired_corpus(spoiled, list(spoiled), references)
    assert set(same) == {"bleu", "chrf"}
    assert all(found.difference == 0 and found.bootstrap > 0.9 for found in same.values())
    apart = paired_corpus(references, spoiled, references)
    assert apart["bleu"].difference > 20
    assert apart["bleu"].bootstrap < 0.01 and apart["bleu"].randomisation < 0.01
    assert paired_corpus(spoiled, references, references)["bleu"].difference < -20
