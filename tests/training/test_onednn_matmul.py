"""oneDNN's products are MKL's, wherever they are taken, and only where they were asked for."""

import pytest
import torch
from torch import nn

from regard.recipe.load import make
from regard.training import onednn_matmul
from regard.training.onednn_matmul import use_onednn
from regard.training.train import train

TAKEN = [(256, 67, 131), (131, 256, 67), (67, 131, 256), (1024, 96, 384), (128, 128, 128)]
NOT_TAKEN = [
    (257, 67, 131),  # no window has so many tokens
    (128, 31, 37),  # too small
    (4096, 512, 7),  # too few columns
]


@pytest.fixture
def calls(monkeypatch):
    """Note the shapes that oneDNN is given."""
    seen, real = [], onednn_matmul._linear

    def noted(left, right, bias):
        seen.append((left.shape[0], left.shape[1], right.shape[1]))
        return real(left, right, bias)

    monkeypatch.setattr(onednn_matmul, "_linear", noted)
    return seen


def matrices(rows, inner, columns, dtype=torch.float32):
    torch.manual_seed(3)
    shapes = (rows, inner), (inner, columns), (columns,)
    return [torch.randn(shape, dtype=dtype) for shape in shapes]


@pytest.mark.parametrize("turned", ["neither", "left", "right", "both"])
@pytest.mark.parametrize("shape", TAKEN)
def test_they_are_equal_whatever_the_order_in_memory(shape, turned, calls):
    left, right, bias = matrices(*shape)
    if turned in ("left", "both"):
        left = left.t().contiguous().t()
    if turned in ("right", "both"):
        right = right.t().contiguous().t()
    exact = left.double() @ right.double()
    with use_onednn(enabled=True):
        plain, biased = left @ right, torch.addmm(bias, left, right)
    assert calls == [shape, shape]
    torch.testing.assert_close(plain.double(), exact, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(biased.double(), exact + bias.double(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", NOT_TAKEN)
def test_what_does_not_pay_stays_as_it_was(shape, calls):
    left, right, bias = matrices(*shape)
    plain, biased = left @ right, torch.addmm(bias, left, right)
    with use_onednn(enabled=True):
        assert torch.equal(left @ right, plain)
        assert torch.equal(torch.addmm(bias, left, right), biased)
    assert not calls


def test_float64_stays_exact(calls):
    left, right, bias = matrices(256, 67, 131, torch.float64)
    expected = torch.addmm(bias, left, right)
    with use_onednn(enabled=True):
        assert torch.equal(torch.addmm(bias, left, right), expected)
    assert not calls


def test_scaled_sums_and_whole_matrices_as_biases_are_left_alone(calls):
    left, right, bias = matrices(256, 67, 131)
    whole = torch.randn(256, 131)
    half = torch.addmm(bias, left, right, alpha=0.5)
    scaled, plain = torch.addmm(whole, left, right, beta=0.5, alpha=2.0), whole.addmm(left, right)
    with use_onednn(enabled=True):
        assert torch.equal(torch.addmm(whole, left, right, beta=0.5, alpha=2.0), scaled)
        assert torch.equal(whole.addmm(left, right), plain)
        assert torch.equal(torch.addmm(bias, left, right, alpha=0.5), half)
    assert not calls


def test_gradients_are_equal_and_all_three_products_of_a_layer_are_taken(calls):
    torch.manual_seed(5)
    layer, states = nn.Linear(67, 131), torch.randn(2, 128, 67, requires_grad=True)
    exact = layer.double()
    exact(states.double()).square().sum().backward()
    expected = [states.grad, exact.weight.grad.clone(), exact.bias.grad.clone()]
    layer, states.grad = layer.float(), None
    layer.zero_grad()
    with use_onednn(enabled=True):
        layer(states).square().sum().backward()
    assert sorted(calls) == [(131, 256, 67), (256, 67, 131), (256, 131, 67)]
    for gradient, wanted in zip(
        (states.grad, layer.weight.grad, layer.bias.grad), expected, strict=True
    ):
        torch.testing.assert_close(gradient.double(), wanted.double(), rtol=1e-4, atol=1e-3)


@pytest.mark.filterwarnings("error")
def test_it_ends_with_its_block_even_by_an_error(calls):
    left, right, _ = matrices(256, 67, 131)
    with pytest.raises(KeyError), use_onednn(enabled=True):
        raise KeyError
    left @ right
    assert not calls


def test_one_within_another_leaves_the_outer_one_standing(calls):
    left, right, _ = matrices(256, 67, 131)
    with use_onednn(enabled=True):
        with use_onednn(enabled=True):
            pass
        left @ right
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("capability", "maker", "expected"),
    [
        ("AVX512", "AuthenticAMD", True),
        ("AVX512", "GenuineIntel", False),
        ("AVX512", "", False),
        ("AVX2", "AuthenticAMD", False),
    ],
)
def test_only_processors_that_mkl_neglects_are_suited(monkeypatch, capability, maker, expected):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(onednn_matmul, "_cpu_vendor", lambda: maker)
    assert onednn_matmul.is_faster() is expected


def test_the_vendor_is_read_from_the_system(tmp_path):
    facts = tmp_path / "cpuinfo"
    facts.write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\n")
    assert onednn_matmul._cpu_vendor(facts) == "AuthenticAMD"
    (tmp_path / "other").write_text("Processor : ARMv8\n")
    assert onednn_matmul._cpu_vendor(tmp_path / "other") == ""
    assert onednn_matmul._cpu_vendor(tmp_path / "missing") == ""


def test_a_step_of_training_is_taken_this_way_and_ends_it(monkeypatch, calls, tmp_path):
    monkeypatch.setattr(onednn_matmul, "is_faster", lambda: True)
    (tmp_path / "text.txt").write_text("the same line again and again\n" * 400)
    recipe = make(
        {
            "task": "language-modelling",
            "data": {"train": [str(tmp_path / "text.txt")], "holdout_from": "end"},
            "text": {"tokenizer": "characters", "max_length": 64},
            "model": {"width": 64, "depth": 1, "feed_forward": 256},
            "training": {"budget": "2 steps", "batch_tokens": 1024},
        }
    )
    train(recipe, tmp_path / "run")
    assert {(1024, 64, 256), (1024, 256, 64), (256, 1024, 64)} <= set(calls)
    left, right, _ = matrices(256, 67, 131)
    calls.clear()
    left @ right
    assert not calls
