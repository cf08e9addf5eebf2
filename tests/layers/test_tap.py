import pytest
import torch
from torch import nn

from regard.layers.tap import Tap, listen


class Two(nn.Module):
    """Two taps, one inside a part."""

    def __init__(self):
        super().__init__()
        self.first, self.part = Tap(), nn.Sequential(Tap())

    def forward(self, tensor):
        return self.part(self.first(tensor) + 1)


def test_a_tap_gives_back_the_very_tensor_it_was_given():
    tensor = torch.randn(3)
    assert Tap()(tensor) is tensor


def test_a_tap_knows_whether_anyone_listens():
    model = Two()
    assert not model.first.has_listener
    with listen(model, "first"):
        assert model.first.has_listener and not model.part[0].has_listener
    assert not model.first.has_listener


def test_every_call_is_recorded_under_the_qualified_name():
    model = Two()
    with listen(model) as recorded:
        model(torch.tensor(1.0))
        model(torch.tensor(5.0))
    assert recorded == {"first": [1.0, 5.0], "part.0": [2.0, 6.0]}
    model(torch.tensor(9.0))
    assert len(recorded["first"]) == 2


def test_a_name_chooses_the_taps_that_end_with_it():
    with listen(Two(), "0") as recorded:
        assert list(recorded) == ["part.0"]
    with (
        pytest.raises(ValueError, match=r"Got art\.0; the taps of this model are first, part\.0"),
        listen(Two(), "art.0"),
    ):
        pass


def test_nobody_listens_after_an_error():
    model = Two()
    with pytest.raises(RuntimeError), listen(model):
        raise RuntimeError
    assert not model.first.has_listener


def test_recorded_tensors_pass_gradients():
    tensor = torch.tensor(2.0, requires_grad=True)
    with listen(Two()) as recorded:
        pass
    model = Two()
    with listen(model) as recorded:
        model(tensor * 3)
    recorded["part.0"][0].backward()
    assert tensor.grad == 3.0
