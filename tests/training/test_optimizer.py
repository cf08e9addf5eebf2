"""Muon is torch's Muon in float32; AdamW is torch's own; schedules are their formulas."""

import pytest
import torch
from torch.testing import assert_close

from regard.models.build.writing import transformer
from regard.recipe.model import ModelSettings
from regard.recipe.training import AdamSettings, AdamWSettings, MuonSettings, ScheduleSettings
from regard.training.optimizer import Muon, hidden_matrices, make_optimizers, orthogonalize
from regard.training.schedule import rate_factor


@pytest.mark.parametrize("shape", [(7, 19), (19, 7), (11, 11)])
def test_muon_steps_as_torchs_own_does_up_to_its_half_precision(shape):
    torch.manual_seed(0)
    ours = torch.nn.Parameter(torch.randn(shape))
    theirs = torch.nn.Parameter(ours.detach().clone())
    mine = Muon([ours], rate=0.02, momentum=0.9, weight_decay=0.1, steps=5)
    other = torch.optim.Muon(
        [theirs], lr=0.02, momentum=0.9, weight_decay=0.1, ns_steps=5, nesterov=True
    )
    for _ in range(3):
        gradient = torch.randn(shape)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        mine.step()
        other.step()
    assert_close(ours, theirs, rtol=0, atol=3e-3)


@pytest.mark.parametrize("shape", [(3, 7, 19), (3, 19, 7)])
def test_the_update_keeps_directions_and_evens_out_their_lengths(shape):
    torch.manual_seed(0)
    matrices = torch.randn(shape)
    u, _, vt = torch.linalg.svd(matrices, full_matrices=False)
    made = orthogonalize(matrices, steps=5)
    lengths = torch.diagonal(u.mT @ made @ vt.mT, dim1=-2, dim2=-1)
    assert lengths.min() > 0.6 and lengths.max() < 1.3
    assert_close(u @ torch.diag_embed(lengths) @ vt, made, rtol=0, atol=1e-4)


def model():
    settings = {"width": 12, "feed_forward": 17, "tied": False}
    return transformer(ModelSettings.model_validate(settings), 23)


def test_every_weight_is_stepped_exactly_once():
    made = model()
    for settings in (AdamWSettings(), AdamSettings(kind="adam"), MuonSettings(kind="muon")):
        stepped = [
            id(parameter)
            for optimizer in make_optimizers(made, settings)
            for group in optimizer.param_groups
            for parameter in group["params"]
        ]
        assert sorted(stepped) == sorted(id(parameter) for parameter in made.parameters())


def test_heads_and_tables_are_no_hidden_matrices():
    made = model()
    hidden = {id(matrix) for matrix in hidden_matrices(made)}
    names = {name for name, parameter in made.named_parameters() if id(parameter) in hidden}
    assert "encoder.blocks.0.mixer.part.to_query.weight" in names
    assert "decoder.blocks.1.feed_forward.part.to_output.weight" in names
    assert not any("table" in name or name.startswith("head") or "norm" in name for name in names)


def test_vectors_are_never_pulled_to_zero():
    (optimizer,) = make_optimizers(model(), AdamWSettings(weight_decay=0.3))
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            assert group["weight_decay"] == (0.3 if parameter.ndim > 1 else 0.0)


def factors(kind, steps=100, **settings):
    made = ScheduleSettings(kind=kind, **settings)
    return [rate_factor(made, step, steps, width=64) for step in range(steps)]


@pytest.mark.parametrize("kind", ["linear", "cosine", "stable-decay"])
def test_rates_climb_through_the_warm_up_and_fall_to_the_floor(kind):
    rates = factors(kind, warmup=0.1, floor=0.05)
    assert rates[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert max(rates) == pytest.approx(1.0)
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] == pytest.approx(0.05, abs=0.03)


def test_linear_is_a_line_and_cosine_a_cosine():
    assert factors("linear", warmup=0.0)[50] == pytest.approx(1 - 49 / 99)
    assert factors("cosine", warmup=0.0)[50] == pytest.approx(0.5, abs=0.02)


def test_stable_decay_is_flat_until_it_falls():
    rates = factors("stable-decay", warmup=0.0, decay=0.25)
    assert rates[1:74] == pytest.approx([1.0] * 73)
    assert rates[88] == pytest.approx((1 - 87 / 99) / 0.25)


@pytest.mark.parametrize(("width", "warmup", "peak"), [(512, 4000, 6.99e-4), (128, 2000, 1.98e-3)])
def test_noam_peaks_where_the_paper_says(width, warmup, peak):
    made = ScheduleSettings(kind="noam", warmup=0.5)
    rates = [rate_factor(made, step, 2 * warmup, width=width) for step in range(2 * warmup)]
    assert max(rates) == pytest.approx(peak, rel=2e-3)
    assert rates.index(max(rates)) == warmup - 1
