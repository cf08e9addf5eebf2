"""Attention, recurrence and convolution side by side: exact, by torch's own counts."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch import nn

from regard.account.layers import Size, compare_layers, crossovers, curves
from regard.errors import UsageError
from regard.layers.attention import Attention
from regard.layers.convolution import Convolution

N, D, K, R = 29, 12, 3, 7


def cost(name, size):
    return next(one for one in compare_layers(size) if one.name == name)


def half_the_flops(products, module, *inputs, **named):
    with products() as counter, torch.no_grad():
        module(*inputs, **named)
    return counter.flops // 2


def test_attention_multiplies_as_the_formula_says(products):
    layer = Attention(D, 3).double().eval()
    layer.weights.register_forward_hook(lambda *_: None)  # recorded: the equation is used
    states, visible = torch.randn(1, N, D).double(), torch.ones(1, 1, 1, N, dtype=torch.bool)
    macs = half_the_flops(products, layer, states, visible=visible)
    assert macs == cost("self-attention", Size(N, D, K, R)).macs == 2 * N * N * D + 4 * N * D * D


@pytest.mark.parametrize(
    ("name", "cell"), [("recurrent (tanh)", nn.RNN), ("GRU", nn.GRU), ("LSTM", nn.LSTM)]
)
def test_recurrence_multiplies_as_the_formula_says(products, name, cell):
    layer = cell(D, D, batch_first=True).double()
    found = cost(name, Size(N, D, K, R))
    assert half_the_flops(products, layer, torch.randn(1, N, D).double()) == found.macs
    assert sum(p.numel() for p in layer.parameters()) == found.parameters


def test_convolution_multiplies_as_the_formula_says(products):
    layer = nn.Conv1d(D, D, K).double()
    found = cost("convolution", Size(N, D, K, R))
    assert half_the_flops(products, layer, torch.randn(1, D, N).double()) == found.macs
    assert found.macs == (N - K + 1) * K * D * D
    assert sum(p.numel() for p in layer.parameters()) == found.parameters


def felt_after(layers, length):
    """Whether the last position feels the first, by the gradient."""
    states = torch.randn(1, length, 4, dtype=torch.float64, requires_grad=True)
    visible = torch.ones(1, 1, 1, length, dtype=torch.bool)
    reached = states
    for layer in layers:
        reached = layer(reached, visible=visible)
    (gradient,) = torch.autograd.grad(reached[0, -1].sum(), states)
    return bool(gradient[0, 0].abs().sum() > 0)


@pytest.mark.parametrize(("length", "kernel"), [(10, 3), (17, 5), (5, 2)])
@pytest.mark.parametrize("dilated", [False, True])
def test_a_path_is_the_least_number_of_layers_that_reach(length, kernel, dilated):
    name = "dilated convolution" if dilated else "convolution"
    path = cost(name, Size(length, 4, kernel, 2)).path
    torch.manual_seed(0)
    layers = [
        Convolution(4, kernel=kernel, dilation=kernel**n if dilated else 1, causal=True).double()
        for n in range(path)
    ]
    assert felt_after(layers, length)
    assert not felt_after(layers[:-1], length)


def test_restricted_attention_reaches_half_its_window_a_layer():
    from regard.layers.visibility import within

    length, window = 11, 7
    path = cost("restricted attention", Size(length, 4, 3, window)).path
    torch.manual_seed(0)
    layers = [Attention(4, 2, rule=within(window // 2)).double() for _ in range(path)]
    assert felt_after(layers, length)
    assert not felt_after(layers[:-1], length)


@given(some.integers(1, 700))
def test_attention_meets_the_lstm_at_twice_the_width(width):
    at = crossovers(Size(8, width))["LSTM"]
    assert at == 2 * width
    size = Size(2 * width, width)
    assert cost("self-attention", size).macs == cost("LSTM", size).macs
    assert (
        cost("GRU", size._replace(length=width)).macs
        == cost("self-attention", size._replace(length=width)).macs
    )


@given(some.integers(5, 31), some.integers(8, 600))
def test_attention_meets_a_wide_convolution_where_it_says(kernel, width):
    at = crossovers(Size(8, width, kernel))["convolution"]
    if at is None:
        return
    above = Size(int(at) + 1, width, kernel)
    assert cost("self-attention", above).macs >= cost("convolution", above).macs
    least = (kernel - 4) * width / 2 - at  # the other place where the parabola meets the line
    if least + 1 < int(at) >= kernel:
        below = Size(int(at), width, kernel)
        assert cost("self-attention", below).macs <= cost("convolution", below).macs


def test_curves_are_the_table_at_every_length():
    drawn = curves(Size(1, 8), [3, 5])
    assert drawn["LSTM"] == [8 * 3 * 64, 8 * 5 * 64]


@pytest.mark.parametrize("size", [Size(0, 8), Size(8, 0), Size(8, 8, 1), Size(8, 8, 3, 1)])
def test_sizes_that_mean_nothing_are_refused(size):
    with pytest.raises(UsageError, match="must be at least"):
        compare_layers(size)
