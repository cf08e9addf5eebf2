import pytest
import torch
from torch import nn
from torch.autograd import gradcheck
from torch.testing import assert_close

from regard.layers.norm import RMSNorm, norm

WIDTH = 7


def states(*axes):
    torch.manual_seed(0)
    return torch.randn(*axes, WIDTH, dtype=torch.float64, requires_grad=True)


def test_rms_norm_is_its_equation():
    layer, given = RMSNorm(WIDTH, epsilon=0.5).double(), states(2, 3)
    nn.init.normal_(layer.weight)
    expected = layer.weight * given / (given.square().mean(-1, keepdim=True) + 0.5).sqrt()
    assert_close(layer(given), expected)


@pytest.mark.parametrize("axes", [(), (3,), (2, 3), (2, 3, 5)], ids=str)
def test_the_way_back_of_rms_norm_is_its_derivative(axes):
    layer = RMSNorm(WIDTH, epsilon=0.1).double()
    nn.init.normal_(layer.weight)
    assert gradcheck(lambda given, _gain: layer(given), (states(*axes), layer.weight))


def test_rms_norm_of_something_not_laid_out_in_order_is_the_same():
    layer, given = RMSNorm(WIDTH).double(), states(2, 3, 5)
    turned = given.transpose(0, 2)
    assert gradcheck(layer, (turned,))
    assert_close(layer(turned).transpose(0, 2), layer(given))


def test_a_state_of_zeros_has_a_norm_and_a_finite_way_back():
    layer, nothing = RMSNorm(WIDTH), torch.zeros(2, WIDTH, requires_grad=True)
    layer(nothing).sum().backward()
    assert nothing.grad.isfinite().all() and not layer(nothing).any()


def test_rms_norm_takes_half_precision_through_torchs_own():
    layer, given = RMSNorm(WIDTH), states(3).float()
    assert_close(layer(given.bfloat16()).float(), layer(given), rtol=0.02, atol=0.02)


def test_layer_norm_has_a_bias_only_if_asked():
    assert norm("layer", WIDTH, biases=True).bias is not None
    assert norm("layer", WIDTH, biases=False).bias is None
    assert [name for name, _ in norm("rms", WIDTH, biases=True).named_parameters()] == ["weight"]
    normed = norm("layer", WIDTH, biases=False)(states(3).float())
    assert_close(normed.mean(-1), torch.zeros(3))
    assert_close(normed.square().mean(-1), torch.ones(3), rtol=1e-3, atol=0)
