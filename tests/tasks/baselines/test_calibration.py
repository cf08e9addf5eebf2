"""How far a bag believes itself: scale and biases, found on texts that it has not seen."""

import numpy as np
import pytest
import torch

from regard.tasks.baselines import calibration
from regard.tasks.baselines.bag_of_ngrams import cross_entropy, fit
from regard.tasks.baselines.calibration import FEWEST, calibrate, fit_calibrated
from regard.tasks.baselines.hashed_ngrams import bags

RANDOM = np.random.default_rng(3)


def texts(count, words=97, longest=13):
    lengths = RANDOM.integers(3, longest, size=count)
    return [" ".join(f"w{n}" for n in RANDOM.integers(words, size=long)) for long in lengths]


def test_scale_and_bias_are_those_by_which_labels_were_drawn():
    told = torch.from_numpy(RANDOM.normal(size=(40_009, 1)))
    true = (torch.from_numpy(RANDOM.random((40_009, 1))) < (1.9 * told + 0.7).sigmoid()).double()
    scale, biases = calibrate(told, true, exclusive=True)
    assert scale == pytest.approx(1.9, abs=0.06) and biases.item() == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize(("columns", "exclusive"), [(1, True), (3, True), (3, False), (1, False)])
def test_nothing_is_left_to_gain(columns, exclusive):
    told = torch.from_numpy(RANDOM.normal(size=(211, columns)))
    true = torch.from_numpy(RANDOM.random((211, columns)))
    if exclusive and columns > 1:
        true = true / true.sum(dim=1, keepdim=True)
    scale, biases = calibrate(told, true, exclusive=exclusive)
    found = torch.cat([torch.tensor([scale]).log().double(), biases.double()]).requires_grad_()
    even = 1 / 3 if exclusive and columns == 3 else 1 / 2
    true = true * 211 / 213 + even * 2 / 213
    logits = found[0].exp() * told + found[1:]
    if exclusive and columns > 1:
        lost = torch.nn.functional.cross_entropy(logits, true, reduction="sum")
    else:
        lost = torch.nn.functional.binary_cross_entropy_with_logits(logits, true, reduction="sum")
    (lost + found.square().sum()).backward()
    assert found.grad.abs().max() < 0.02
    value, wrong = cross_entropy(logits.detach(), true, exclusive=exclusive)
    assert value.item() == pytest.approx(lost.item())
    free = logits.detach().requires_grad_()
    cross_entropy(free, true, exclusive=exclusive)[0].backward()
    torch.testing.assert_close(free.grad, wrong)


def test_labels_that_are_chance_are_not_believed():
    some, new = texts(300), bags(texts(200))
    drawn = torch.from_numpy((RANDOM.random((300, 1)) < 0.6).astype(np.float32))
    plain = fit(bags(some), drawn, exclusive=True, trust=5.0).logits(new)
    held = fit_calibrated(bags(some), drawn, exclusive=True, trust=5.0).logits(new)
    assert held.std() < 0.4 * plain.std()
    assert held.mean().sigmoid() == pytest.approx(drawn.mean().item(), abs=0.08)


def test_what_is_true_is_believed_and_order_stays(monkeypatch):
    monkeypatch.setattr(calibration, "ENOUGH", 40)
    some = texts(400)
    true = torch.tensor([["w1" in text or "w2" in text] for text in some]).float()
    numbers = RANDOM.normal(size=(400, 2)).astype(np.float32)
    plain, held = (
        learn(bags(some), true, exclusive=True, trust=5.0, numbers=numbers)
        for learn in (fit, fit_calibrated)
    )
    told = [bag.logits(bags(some), numbers)[:, 0] for bag in (plain, held)]
    assert torch.equal(told[0].argsort(), told[1].argsort())
    assert not torch.allclose(told[0], told[1])
    assert torch.equal(plain.rows, held.rows) and torch.equal(plain.scale, held.scale)


def test_no_text_is_told_by_a_bag_that_learned_it(monkeypatch):
    learned = []

    def watch(seen, targets, **settings):
        learned.append(set(map(tuple, np.split(seen.rows, seen.offsets[1:-1]))))
        return fit(seen, targets, **settings)

    monkeypatch.setattr(calibration, "fit", watch)
    some = [f"own{n} word{n % 5}" for n in range(50)]
    fit_calibrated(bags(some), torch.ones(50, 1) / 2, exclusive=True, trust=5.0)
    every, *parts = learned
    assert len(every) == 50 and [len(part) for part in parts] == [40] * 5
    assert all(any(text not in part for part in parts) for text in every)


def test_too_few_texts_are_left_as_they_are():
    some = bags(texts(FEWEST - 1))
    true = torch.tensor([[n % 2] for n in range(FEWEST - 1)]).float()
    plain, held = (learn(some, true, exclusive=True, trust=5.0) for learn in (fit, fit_calibrated))
    assert torch.equal(plain.weights, held.weights) and torch.equal(plain.biases, held.biases)


def test_further_numbers_are_seen_by_the_held_out_too():
    numbers = RANDOM.normal(size=(300, 2)).astype(np.float32)
    true = torch.from_numpy((numbers[:, :1] > 0).astype(np.float32))
    some = bags(texts(300))
    plain, held = (
        learn(some, true, exclusive=True, trust=1.0, numbers=numbers)
        for learn in (fit, fit_calibrated)
    )
    # What the numbers tell is true of the held-out as well, so it is believed as far or further.
    assert (held.numbers[0] > 0.9 * plain.numbers[0]).all()


def test_what_was_always_right_is_not_certain():
    true = torch.tensor([[n % 2] for n in range(100)]).float()
    scale, biases = calibrate(2 * true - 1, true, exclusive=True)
    assert 3 < scale + biases.item() < 5  # 51 of 52 would be right: a logit of 3.9
