"""Scores against hand-computed values and brute force."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from regard.tasks.labelling.metrics import (
    by_label,
    calibration_error,
    confusion,
    mean_average_precision,
    number_scores,
    one_label_scores,
    pearson,
    ranks,
    several_label_scores,
)


def test_one_label_scores_are_those_worked_out_by_hand():
    p = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]])
    scores = one_label_scores(p.log(), torch.tensor([0, 1, 1, 1]))
    assert scores["accuracy"] == pytest.approx(2 / 4)
    # label 0: said twice, once right, true once; label 1: said once, right, true three times;
    # label 2: said once, never true.
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)
    assert scores["loss"] == pytest.approx(-np.log([0.7, 0.6, 0.4, 0.2]).mean(), rel=1e-5)
    # Confidences 0.7 | 0.6, 0.6 | 0.5 fall into bins 10, 9, 9 and 7 of 15.
    assert scores["ece"] == pytest.approx((0.3 + abs(1 - 1.2) + 0.5) / 4, rel=1e-5)


def test_several_label_scores_are_those_worked_out_by_hand():
    logits = torch.tensor([[2.0, -1.0, 3.0], [-2.0, 1.0, -3.0]])
    true = torch.tensor([[True, True, False], [False, True, False]])
    scores = several_label_scores(logits, logits > 0, true)
    assert scores["micro_f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert scores["macro_f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert scores["subset_accuracy"] == pytest.approx(1 / 2)
    fewer = several_label_scores(logits, logits > 2.5, true)
    assert fewer["micro_f1"] == 0.0 and fewer["subset_accuracy"] == 0.0
    assert {fewer[name] == scores[name] for name in ("map", "loss", "ece")} == {True}
    p = 1 / (1 + np.exp(-logits.numpy().astype(float)))
    lost = -np.where(true.numpy(), np.log(p), np.log(1 - p)).sum(axis=1).mean()
    assert scores["loss"] == pytest.approx(lost, rel=1e-6)


@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.booleans(), st.integers(-3, 3), st.booleans()),
        min_size=1,
        max_size=31,
    )
)
def test_mean_average_precision_is_scikit_learns_over_the_labels_there_are(texts):
    rows = np.asarray(texts, dtype=float)
    scores, true = rows[:, [0, 2]], rows[:, [1, 3]] > 0
    there = true.any(axis=0)
    expected = 0.0
    if there.any():
        expected = average_precision_score(true[:, there], scores[:, there], average="macro")
    found = mean_average_precision(torch.tensor(scores), torch.tensor(true))
    assert found == pytest.approx(expected)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=53))
def test_calibration_error_is_the_sum_over_bins(answers):
    result = torch.tensor([p for p, _ in answers], dtype=torch.double)
    right = torch.tensor([r for _, r in answers])
    slow = 0.0
    for number in range(15):
        inside = [(p, r) for p, r in answers if min(int(p * 15), 14) == number]
        if inside:
            accuracy = sum(r for _, r in inside) / len(inside)
            mean = sum(p for p, _ in inside) / len(inside)
            slow += len(inside) / len(answers) * abs(accuracy - mean)
    assert calibration_error(result, right) == pytest.approx(slow, abs=1e-9)


def test_a_confusion_matrix_has_true_labels_as_rows():
    said, true = torch.tensor([0, 1, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 1])
    found = confusion(said, true, ["a", "b", "c"])
    assert found["confusion"] == [[1, 1, 0], [0, 2, 1], [0, 0, 0]]
    assert found["by_label"]["b"] == {
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(2 / 3),
        "f1": pytest.approx(2 / 3),
        "support": 3,
    }
    assert found["by_label"]["c"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}


def test_each_of_several_labels_is_scored_for_itself():
    said = torch.tensor([[True, False], [True, True], [False, False]])
    true = torch.tensor([[True, False], [False, True], [True, True]])
    found = by_label(said, true, ["x", "y"])["by_label"]
    assert (found["x"]["precision"], found["x"]["recall"]) == (0.5, 0.5)
    assert (found["y"]["precision"], found["y"]["recall"]) == (1.0, 0.5)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=37))
def test_ranks_give_equal_numbers_the_mean_of_their_places(numbers):
    values = np.asarray(numbers, dtype=float)
    in_order = np.sort(values)
    slow = [float(np.mean(np.flatnonzero(in_order == value) + 1)) for value in values]
    assert ranks(values).tolist() == pytest.approx(slow)


def test_spearman_of_a_published_example_and_of_order_alone():
    # Ten IQs and hours of television: the textbook's rho is -29/165.
    iq = [86.0, 97, 99, 100, 101, 103, 106, 110, 112, 113]
    hours = [2.0, 20, 28, 27, 50, 29, 7, 17, 6, 12]
    assert number_scores([*map(float, hours)], [*map(float, iq)])["spearman"] == pytest.approx(
        -29 / 165
    )
    bent = number_scores([math.exp(x) for x in iq[:7]], [*map(float, iq[:7])])
    assert bent["spearman"] == pytest.approx(1.0) and bent["pearson"] < 0.9


def test_what_never_changes_correlates_with_nothing():
    assert pearson(np.ones(7), np.arange(7.0)) == 0.0
