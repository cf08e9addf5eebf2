import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from regard.layers.dropout import keyed
from regard.layers.feed_forward import FeedForward, relu2

WIDTH, INNER = 5, 11

ACTIVATIONS = {
    "relu": lambda x: x.clamp(min=0),
    "gelu": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,
    "relu2": lambda x: x.clamp(min=0) ** 2,
}


def states():
    torch.manual_seed(0)
    return torch.randn(2, 3, WIDTH)


@pytest.mark.parametrize("biases", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_feed_forward_part_is_its_equation(activation, biases):
    given, layer = states(), FeedForward(WIDTH, INNER, activation=activation, biases=biases)
    inner, output = layer.to_inner, layer.to_output
    b1, b2 = (inner.bias, output.bias) if biases else (0, 0)
    expected = ACTIVATIONS[activation](given @ inner.weight.T + b1) @ output.weight.T + b2
    assert_close(layer(given), expected)
    assert sum(w.numel() for w in layer.parameters()) == (
        2 * WIDTH * INNER + biases * (WIDTH + INNER)
    )


def test_swiglu_is_gated_by_a_third_matrix():
    given, layer = states(), FeedForward(WIDTH, INNER, activation="swiglu", biases=False)
    gate = given @ layer.to_gate.weight.T
    expected = gate * torch.sigmoid(gate) * (given @ layer.to_inner.weight.T)
    assert_close(layer(given), expected @ layer.to_output.weight.T)
    assert sum(w.numel() for w in layer.parameters()) == 3 * WIDTH * INNER


def test_the_way_back_of_squared_relu_is_its_derivative():
    inner = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    assert gradcheck(relu2, (inner,))


def test_the_inner_layer_is_thinned_while_training_only():
    given, layer = states(), FeedForward(WIDTH, INNER, activation="relu", dropout=0.5)
    with keyed(1):
        thinned = layer(given)
    with keyed(1):
        assert_close(layer(given), thinned, rtol=0, atol=0)
    whole = layer.eval()(given)
    assert (thinned != whole).any()
    assert_close(whole, layer.to_output(torch.relu(layer.to_inner(given))))
