import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from regard.layers.dropout import Dropout, keyed

MANY = 1_000_003  # no multiple of the eight bytes in one draw


def silenced(*key, share=0.1, count=MANY):
    with keyed(*key):
        return Dropout(share)(torch.ones(count))


def test_the_same_key_silences_the_same_numbers():
    assert_close(silenced(3, 5), silenced(3, 5), rtol=0, atol=0)


@pytest.mark.parametrize("other", [(3, 6), (4, 5), (5, 3), (3,)], ids=str)
def test_another_key_silences_others(other):
    differs = (silenced(3, 5) != silenced(*other)).float().mean()
    assert 0.15 < differs < 0.21  # 2 · 0.1 · 0.9 for independent masks


def test_two_layers_under_one_key_silence_different_numbers():
    layer, ones = Dropout(0.5), torch.ones(1009)
    with keyed(1):
        first, second = layer(ones), layer(ones)
    assert (first != second).any()


def test_a_key_inside_a_key_leaves_the_outer_one_as_it_was():
    layer, ones = Dropout(0.5), torch.ones(1009)
    with keyed(1):
        first = layer(ones)
        with keyed(2):
            layer(ones)
        second = layer(ones)
    with keyed(1):
        assert_close(layer(ones), first)
        assert_close(layer(ones), second)


def test_without_a_key_torchs_own_seed_decides():
    layer, ones = Dropout(0.5), torch.ones(1009)
    torch.manual_seed(7)
    first, second = layer(ones), layer(ones)
    torch.manual_seed(7)
    assert_close(layer(ones), first)
    assert (first != second).any()


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.9])
def test_the_mean_is_kept_and_the_share_is_silenced(share):
    kept = silenced(11, share=share)
    rounded = round(share * 256) / 256
    deviation = (rounded * (1 - rounded) / MANY) ** 0.5
    assert abs((kept == 0).double().mean() - rounded) < 5 * deviation
    assert abs(kept.double().mean() - 1) < 5 * deviation / (1 - rounded)
    assert_close(kept.max(), torch.tensor(1 / (1 - rounded)))
    assert len(kept.unique()) == 2


def test_neighbours_are_silenced_independently():
    off = (silenced(13, share=0.5) == 0).double() - 0.5
    for apart in (1, 2, 4, 8, 64):
        assert abs((off[:-apart] * off[apart:]).mean()) < 5 * 0.25 / MANY**0.5


def test_what_was_silenced_learns_nothing_and_the_rest_learns_louder():
    states = torch.ones(2, 3, 101, requires_grad=True)
    with keyed(1):
        kept = Dropout(0.25)(states)
    kept.sum().backward()
    assert_close(states.grad, kept.detach(), rtol=0, atol=0)


def test_the_way_back_is_the_derivative():
    def under_one_key(states):
        with keyed(1):
            return Dropout(0.5)(states)

    states = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(under_one_key, (states,))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_every_kind_of_float_has_the_same_mask(dtype):
    with keyed(3):
        kept = Dropout(0.5)(torch.ones(1009, dtype=dtype))
    assert kept.dtype == dtype
    assert_close(kept.float(), silenced(3, share=0.5, count=1009))


def test_states_laid_out_across_keep_their_places():
    states = torch.randn(3, 5, 7).transpose(0, 2)
    with keyed(1):
        kept = Dropout(0.5)(states)
    assert_close(kept, torch.where(kept == 0, 0, 2 * states))


def test_after_training_and_at_share_zero_nothing_is_touched():
    states = torch.ones(7)
    assert Dropout(0.5).eval()(states) is states
    assert Dropout(0.0)(states) is states


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=f"at least 0 and below 1. Got {share}"):
        Dropout(share)


def test_a_share_close_to_one_leaves_something():
    assert silenced(1, share=0.9999).any()
