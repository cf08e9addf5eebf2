import math

import pytest
import torch
from torch.testing import assert_close

from regard.layers.diversity import (
    FLOOR,
    PENALTIES,
    divergence,
    frobenius,
    kl,
    mean_overlap,
    off_diagonal,
    overlap,
)

BATCH, HOPS, POSITIONS = 2, 3, 7


def draw_weights(seed=0, scale=1.0):
    torch.manual_seed(seed)
    return (scale * torch.randn(BATCH, HOPS, POSITIONS, dtype=torch.float64)).softmax(-1)


def one_hot(*places, positions=POSITIONS):
    return torch.eye(positions)[list(places)][None]


def test_frobenius_is_the_papers_norm():
    a = draw_weights()
    for row, penalty in zip(a, frobenius(a), strict=True):
        expected = torch.linalg.matrix_norm(row @ row.T - torch.eye(HOPS)) ** 2
        assert_close(penalty, expected)


@pytest.mark.parametrize("hops", [2, 3, 30])
def test_its_range_is_from_distinct_words_to_one_word(hops):
    distinct = one_hot(*range(hops), positions=31)
    same = one_hot(*[5] * hops, positions=31)
    assert frobenius(distinct).item() == 0
    assert frobenius(same).item() == hops * (hops - 1)


def test_more_hops_than_words_cannot_all_differ():
    balanced = one_hot(0, 1, 2, 3, 4, 0, 1, 2, 3, 4, positions=5)
    assert frobenius(balanced).item() == 10  # at least r - n = 5 by rank; balanced one-hots give 10


def test_the_off_diagonal_part_is_what_remains_without_the_diagonal():
    a = draw_weights()
    diagonal = (a.square().sum(-1) - 1).square().sum(-1)
    assert_close(off_diagonal(a), frobenius(a) - diagonal)
    apart = torch.tensor([[[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]])
    assert off_diagonal(apart).item() == 0 < frobenius(apart).item()


def test_the_penalty_of_identical_hops_grows_with_their_concentration():
    uniform = torch.full((1, 2, 8), 1 / 8)
    assert_close((uniform @ uniform.mT)[0, 0, 1].item(), 1 / 8)  # not 1, as D1 says


def test_divergence_in_matmul_form_is_the_sum_over_words():
    a = draw_weights()
    expected = (a[:, :, None] * (a[:, :, None] / a[:, None]).log()).sum(-1)
    assert_close(divergence(a), expected)
    pairs = [expected[:, i, j] for i in range(HOPS) for j in range(HOPS) if i != j]
    assert_close(kl(a), -torch.stack(pairs).mean(0))


def test_divergence_stays_finite_where_kl_is_not():
    a = one_hot(0, 3).requires_grad_()
    found = kl(a)
    found.sum().backward()
    assert found.item() == pytest.approx(-math.log(1 / FLOOR), rel=1e-5)
    assert a.grad.isfinite().all()


@pytest.mark.parametrize("kind", PENALTIES)
def test_every_penalty_gives_one_number_per_text_and_ignores_padding(kind):
    a = draw_weights()
    padded = torch.cat([a, torch.zeros(BATCH, HOPS, 2, dtype=a.dtype)], dim=2)
    penalty = PENALTIES[kind](a)
    assert penalty.shape == (BATCH,)
    assert_close(PENALTIES[kind](padded), penalty)


def test_overlap_is_the_shared_part():
    a = torch.tensor([[[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.0, 0.0, 1.0]]])
    found = overlap(a)[0]
    assert_close(found, torch.tensor([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]))
    assert mean_overlap(a).item() == pytest.approx(1 / 3)
    assert mean_overlap(a[:, :1]).item() == 0
