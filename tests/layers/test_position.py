import math

import pytest
import torch
from torch.testing import assert_close

from regard.layers.position import Added, Concatenated, Learned, Rotary, Sinusoidal, shift_operator

WIDTH, MOST = 16, 1000


@pytest.fixture
def waves():
    return Sinusoidal(WIDTH).double()(2 * MOST)


@pytest.fixture
def in_float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_waves_are_the_papers(waves):
    for t in (0, 1, 17, 999):
        for m in range(WIDTH // 2):
            angle = t * 10000 ** (-2 * m / WIDTH)
            assert math.isclose(waves[t, 2 * m], math.sin(angle), abs_tol=1e-12)
            assert math.isclose(waves[t, 2 * m + 1], math.cos(angle), abs_tol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 7, 999, -3])
def test_the_shift_operator_moves_every_position_by_k(waves, k, in_float64):
    start = max(0, -k)
    moved = waves[start : start + MOST] @ shift_operator(k, WIDTH).T
    assert_close(moved, waves[start + k : start + k + MOST], rtol=0, atol=1e-11)


def test_shift_operators_are_orthogonal_and_add_up(in_float64):
    five, seven = shift_operator(5, WIDTH), shift_operator(7, WIDTH)
    assert_close(five @ five.T, torch.eye(WIDTH))
    assert_close(five @ seven, shift_operator(12, WIDTH))
    assert_close(shift_operator(0, WIDTH), torch.eye(WIDTH))


@pytest.mark.parametrize("k", [1, 23])
def test_the_product_of_two_waves_depends_on_their_distance_only(waves, k):
    products = (waves[:MOST] * waves[k : MOST + k]).sum(-1)
    expected = sum(math.cos(k * 10000 ** (-2 * m / WIDTH)) for m in range(WIDTH // 2))
    assert_close(products, torch.full_like(products, expected), rtol=0, atol=1e-11)


def test_a_learned_table_has_no_shift_operator():
    torch.manual_seed(0)
    table = Learned(101, WIDTH)(101).double()
    best = torch.linalg.lstsq(table[:-1], table[1:]).solution
    left = (table[:-1] @ best - table[1:]).norm() / table[1:].norm()
    assert left > 0.5


def test_waves_lose_no_digits_when_the_model_moves_to_float64(waves):
    layer = Sinusoidal(WIDTH)
    assert layer(7).dtype == torch.float32
    assert_close(layer.double()(MOST), waves[:MOST], rtol=0, atol=0)


def test_waves_first_asked_for_in_inference_mode_can_be_trained_with_later():
    turn, heads = Rotary(4).double(), torch.randn(2, 3, 5, 4, dtype=torch.float64)
    with torch.inference_mode():
        turn(heads)
    turn(heads.requires_grad_()).sum().backward()
    assert heads.grad.isfinite().all()


def test_waves_are_not_saved_with_the_model():
    assert not Sinusoidal(WIDTH).state_dict() and not Rotary(4).state_dict()


@pytest.mark.parametrize("make", [Sinusoidal, Rotary])
def test_an_odd_width_has_no_pairs_and_is_refused(make):
    with pytest.raises(ValueError, match="Got 7; 8 fits"):
        make(7)


def test_a_learned_table_gives_its_rows_and_refuses_what_is_too_long():
    table = Learned(11, WIDTH)
    assert_close(table(3, start=8), table.table[8:])
    with pytest.raises(ValueError, match="Got 12, table of 11"):
        table(3, start=9)


def test_added_positions_are_summed_and_concatenated_ones_appended():
    states, table = torch.randn(2, 3, WIDTH), Learned(11, WIDTH)
    assert_close(Added(table)(states, start=5), states + table.table[5:8])
    joined = Concatenated(table)(states, start=5)
    assert_close(joined[..., :WIDTH], states)
    assert_close(joined[1, :, WIDTH:], table.table[5:8])


def test_concatenating_with_the_same_matrix_twice_is_adding():
    states, table, matrix = torch.randn(2, 3, WIDTH), Learned(11, WIDTH), torch.randn(WIDTH, 5)
    joined = Concatenated(table)(states) @ torch.cat([matrix, matrix])
    assert_close(joined, Added(table)(states) @ matrix, rtol=1e-4, atol=1e-4)


# ── rotary ───────────────────────────────────────────────────────────────────────────────────────


def heads(features=8):
    torch.manual_seed(0)
    return torch.randn(2, 3, 5, features, dtype=torch.float64)


def test_rotary_turns_each_pair_by_its_angle():
    given = heads()
    turned = Rotary(8, base=100.0).double()(given, start=4)
    for position in range(5):
        for m in range(4):
            angle = (4 + position) * 100 ** (-2 * m / 8)
            cos, sin = math.cos(angle), math.sin(angle)
            x, y = given[:, :, position, 2 * m], given[:, :, position, 2 * m + 1]
            assert_close(turned[:, :, position, 2 * m], cos * x - sin * y)
            assert_close(turned[:, :, position, 2 * m + 1], sin * x + cos * y)


def test_rotary_scores_depend_on_distance_only():
    turn, query, key = Rotary(8).double(), heads(), heads().flip(0)
    here = turn(query, start=3) @ turn(key, start=1).mT
    there = turn(query, start=103) @ turn(key, start=101).mT
    elsewhere = turn(query, start=104) @ turn(key, start=101).mT
    assert_close(here, there, rtol=0, atol=1e-10)
    assert (here - elsewhere).abs().max() > 0.1


def test_rotary_keeps_lengths_and_the_first_position():
    given, turned = heads(), Rotary(8).double()(heads())
    assert_close(turned.norm(dim=-1), given.norm(dim=-1))
    assert_close(turned[:, :, 0], given[:, :, 0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_rotary_gives_back_the_precision_it_was_given(dtype):
    given = heads().to(dtype)
    turned = Rotary(8)(given)
    assert turned.dtype == dtype
    assert_close(turned.double(), Rotary(8).double()(given.double()), rtol=0.01, atol=0.01)
