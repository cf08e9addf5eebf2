import pytest
import torch

from regard.layers.convolution import Convolution
from regard.layers.memory import Memory

WIDTH, POSITIONS = 5, 11
EVERYTHING = torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)


def heard_from(kernel, dilation, causal, position=5):
    """Return the distances of the positions that ``position`` depends on."""
    mixer = Convolution(WIDTH, kernel=kernel, dilation=dilation, causal=causal)
    states = torch.randn(1, POSITIONS, WIDTH, requires_grad=True)
    mixer(states, visible=EVERYTHING)[0, position].sum().backward()
    return [at - position for at in range(POSITIONS) if states.grad[0, at].any()]


@pytest.mark.parametrize(
    ("kernel", "dilation", "causal", "recorded"),
    [
        (3, 1, True, [-2, -1, 0]),
        (3, 1, False, [-1, 0, 1]),
        (3, 2, True, [-4, -2, 0]),
        (3, 2, False, [-2, 0, 2]),
        (2, 1, False, [0, 1]),
        (5, 1, False, [-2, -1, 0, 1, 2]),
        (1, 1, True, [0]),
    ],
)
def test_a_position_depends_on_kernel_neighbours_dilation_apart(kernel, dilation, causal, recorded):
    assert heard_from(kernel, dilation, causal) == recorded


def test_memory_holds_no_more_than_the_reach():
    mixer, memory = Convolution(WIDTH, kernel=3, dilation=2, causal=True), Memory()
    mixer(torch.randn(2, POSITIONS, WIDTH), visible=EVERYTHING, memory=memory)
    assert memory["inputs"].shape == (2, 4, WIDTH)


def test_a_mixer_that_sees_both_sides_has_no_memory():
    mixer = Convolution(WIDTH, kernel=3, causal=False)
    with pytest.raises(ValueError, match="Only a causal mixer"):
        mixer(torch.randn(2, POSITIONS, WIDTH), visible=EVERYTHING, memory=Memory())
