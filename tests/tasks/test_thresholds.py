"""Thresholds of several labels against brute force, and what few texts may decide."""

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.ensemble import Answers
from regard.tasks.labelling.decisions import Decisions
from regard.tasks.labelling.labels import OneLabel
from regard.tasks.labelling.several_labels import SeveralLabels
from regard.tasks.labelling.thresholds import fit_thresholds


def drawn(texts, *, shift, seed=0):
    """Draw labels, and probabilities by which the threshold ``shift`` is the best."""
    true = torch.rand(texts, 3, generator=torch.Generator().manual_seed(seed)) < 0.3
    noise = torch.rand(texts, 3, generator=torch.Generator().manual_seed(seed + 1))
    shift = torch.tensor(shift)
    return torch.where(true, shift + (1 - shift) * noise, shift * noise), true.float()


def test_with_many_texts_each_label_has_the_threshold_of_its_best_f1():
    probabilities, true = drawn(10_007, shift=[0.2, 0.5, 0.83])
    found = fit_thresholds(probabilities, true)
    assert found.tolist() == pytest.approx([0.2, 0.5, 0.83], abs=0.011)
    said = (probabilities > found).numpy()
    for column in range(3):
        best = max(
            f1_score(true[:, column], probabilities[:, column] > t) for t in np.arange(1, 100) / 100
        )
        assert f1_score(true[:, column], said[:, column]) == pytest.approx(best, abs=0.005)


def test_few_texts_leave_a_label_about_the_threshold_of_all():
    probabilities, true = drawn(1_009, shift=[0.3, 0.3, 0.3])
    true[:, 2] = 0.0
    true[0, 2], probabilities[:, 2] = 1.0, 0.05
    probabilities[0, 2] = 0.9  # alone, any threshold from .05 to .9 would do
    found = fit_thresholds(probabilities, true)
    assert float(found[2]) == pytest.approx(0.3, abs=0.02)


def test_texts_without_any_label_leave_thresholds_at_a_half():
    assert fit_thresholds(torch.zeros(7, 2), torch.zeros(7, 2)).tolist() == [0.5, 0.5]


LABELS = SeveralLabels(["a", "b"], "|")
WRITTEN = ["a", "a|b", "b", "", "a"] * 20
TRUE = LABELS.targets([LABELS.numbers(one) for one in WRITTEN])


def answers(true=TRUE):
    """Give logits by which .12, .88 and .5 are the best thresholds of the members."""
    network, bag, together = (4 * true - 2 + shift for shift in (-2.0, 2.0, 0.0))
    return network, Answers(network, network, bag, together)


def test_every_member_has_thresholds_of_its_own_which_are_stored():
    decisions = Decisions(LABELS, DecodingSettings())
    network, found = answers()
    stored = decisions.fit(network, found, WRITTEN)
    assert set(stored) == {
        f"ensemble.thresholds.{name}" for name in ("answer", "network", "baseline", "together")
    }
    again = Decisions(LABELS, DecodingSettings())
    again.put(stored)
    for member in (decisions, again):
        assert member.score("baseline", found.bag, WRITTEN)["micro_f1"] == 1.0
        assert member.score("together", found.together, WRITTEN)["micro_f1"] == 1.0
        assert member.labels().score(network, WRITTEN)["micro_f1"] == 1.0
    assert LABELS.score(network, WRITTEN)["micro_f1"] == 0.0  # with thresholds of a half


def test_whoever_answers_by_the_weight_has_its_own_thresholds():
    stored = Decisions(LABELS, DecodingSettings()).fit(*answers(), WRITTEN)
    _, found = answers()
    alone = Decisions(LABELS, DecodingSettings(baseline_weight=1.0))
    alone.put(stored)
    assert alone.labels().score(found.bag, WRITTEN)["micro_f1"] == 1.0


def test_a_threshold_that_is_set_is_used_instead_of_the_stored_ones():
    stored = Decisions(LABELS, DecodingSettings()).fit(*answers(), WRITTEN)
    network, found = answers()
    fixed = Decisions(LABELS, DecodingSettings(threshold=0.9))
    fixed.put(stored)
    assert fixed.labels().thresholds.tolist() == pytest.approx([0.9, 0.9])
    assert fixed.fit(network, found, WRITTEN) == {}
    assert "over 0.90" in fixed.labels().signature["micro_f1"]


def test_one_label_needs_no_threshold():
    network, found = answers()
    plain = OneLabel(["a", "b"])
    assert Decisions(plain, DecodingSettings()).fit(network, found, ["a"] * 100) == {}
