"""The share of the baseline in the ensemble, on constructed cases."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.baselines.calibration import calibrate
from regard.tasks.baselines.logistic_regression import cross_entropies, cross_entropy
from regard.tasks.baselines.share import Mixture, fit_mixture, fixed_mixture


def draw(texts, labels=3, seed=0):
    """Draw labels, logits that tell them and logits that do not."""
    rng = np.random.default_rng(seed)
    true = rng.integers(labels, size=texts)
    targets = torch.from_numpy(np.eye(labels)[true]).float()
    first, second, noise = (
        torch.from_numpy(rng.normal(size=(texts, labels))).float() for _ in range(3)
    )
    return targets, 1.5 * targets + first, 1.5 * targets + second, noise


def lost(logits, targets):
    return float(cross_entropy(logits, targets, exclusive=True)[0])


def test_a_network_that_is_noise_leaves_the_answer_to_the_baseline():
    targets, baseline, _, noise = draw(501)
    found = fit_mixture(noise, baseline, targets, exclusive=True)
    assert found.share == 1.0 and found.texts == 501
    torch.testing.assert_close(found.mix(noise, baseline), baseline)


def test_a_baseline_that_is_noise_leaves_the_answer_to_the_network():
    targets, network, _, noise = draw(501)
    assert fit_mixture(network, noise, targets, exclusive=True).share == 0.0


@pytest.mark.parametrize("exclusive", [True, False])
def test_two_that_know_different_things_are_better_than_either_on_new_texts(exclusive):
    targets, network, baseline, _ = draw(501)
    found = fit_mixture(5 * network + 1, baseline, targets, exclusive=exclusive)
    assert 0.2 < found.share < 0.8
    targets, network, baseline, _ = draw(2003, seed=1)
    both, *alone = (
        float(cross_entropy(logits, targets, exclusive=exclusive)[0])
        for logits in (found.mix(5 * network + 1, baseline), 5 * network + 1, baseline)
    )
    assert both < 0.97 * min(alone)


def test_an_overconfident_network_is_calibrated():
    targets, network, _, noise = draw(501)
    found = fit_mixture(10 * network, noise, targets, exclusive=True)
    assert found.scale == pytest.approx(0.15, abs=0.03)
    assert lost(found.mix(10 * network, noise), targets) < 0.5 * lost(10 * network, targets)


@pytest.mark.parametrize("texts", [5, 10, 40])
def test_chance_on_few_held_out_texts_does_not_overrule_the_baseline(texts):
    chosen = [
        fit_mixture(noise, baseline, targets, exclusive=True).share
        for seed in range(100)
        for targets, _, baseline, noise in [draw(texts, seed=seed)]
    ]
    assert np.mean([share == 1.0 for share in chosen]) >= 0.95


def test_a_gain_on_two_texts_alone_does_not_overrule_the_baseline():
    targets, baseline, _, _ = draw(353)
    by = calibrate(baseline, targets, exclusive=True)
    baseline = by.scale * baseline + by.biases
    worst = cross_entropies(baseline, targets, exclusive=True).topk(2).indices
    network = baseline.clone()  # so all other texts are answered alike
    network[worst] = 4 * targets[worst]
    assert lost(baseline, targets) - lost(network, targets) > 1.5 * 4  # AIC would accept it
    assert fit_mixture(network, baseline, targets, exclusive=True).share == 1.0


@given(st.integers(0, 10_000), st.integers(1, 200))
def test_the_fitted_mixture_is_never_worse_than_the_baseline_where_it_was_fitted(seed, texts):
    targets, network, baseline, noise = draw(texts, seed=seed)
    for logits in (network, noise):
        found = fit_mixture(logits, baseline, targets, exclusive=True)
        assert lost(found.mix(logits, baseline), targets) <= lost(baseline, targets) + 1e-3


def test_a_mixture_is_stored():
    targets, network, baseline, _ = draw(101)
    found = fit_mixture(network, baseline, targets, exclusive=True)
    stored = Mixture.load(found.parameters())
    assert stored.texts == 101
    torch.testing.assert_close(stored.mix(network, baseline), found.mix(network, baseline))
    assert Mixture.load({}) is None


def test_a_fixed_weight_mixes_the_logits_as_they_are():
    network, baseline = torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0, -2.0]])
    mixed = fixed_mixture(0.25, 2).mix(network, baseline)
    torch.testing.assert_close(mixed, 0.75 * network + 0.25 * baseline)
