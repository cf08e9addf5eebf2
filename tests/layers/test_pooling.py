import pytest
import torch
from torch.testing import assert_close

from regard.layers.pooling import AttentionPool, Cls, First, Last, Max, Mean, MeanMax
from regard.layers.tap import listen
from regard.layers.visibility import padding

BATCH, POSITIONS, WIDTH, HOPS, FEATURES = 2, 7, 5, 3, 11
VISIBLE = padding(torch.tensor([7, 4]), POSITIONS)


def test_one_hop_is_the_attention_of_han():
    torch.manual_seed(0)
    pool, states = AttentionPool(WIDTH, features=FEATURES), torch.randn(BATCH, POSITIONS, WIDTH)

    u = torch.tanh(states @ pool.to_key.weight.T + pool.to_key.bias)  # eq. 5
    a = (u @ pool.queries[0]).masked_fill(~VISIBLE[:, 0, 0], -torch.inf).softmax(-1)  # eq. 6
    s = (a[..., None] * states).sum(1)  # eq. 7

    assert_close(pool(states, visible=VISIBLE)[:, 0], s)


def test_many_hops_are_the_structured_sentence_embedding():
    torch.manual_seed(0)
    pool, states = (
        AttentionPool(WIDTH, HOPS, features=FEATURES),
        torch.randn(BATCH, POSITIONS, WIDTH),
    )
    assert pool(states, visible=VISIBLE).shape == (BATCH, HOPS, WIDTH)


def states():
    torch.manual_seed(0)
    return torch.randn(BATCH, POSITIONS, WIDTH)


def test_first_is_the_first_position():
    given = states()
    assert_close(First()(given, visible=VISIBLE), given[:, 0])


def test_mean_and_max_are_over_what_is_visible():
    given = states() - 10  # all negative, so that a zero from padding would win
    real = [given[0], given[1, :4]]
    assert_close(Mean()(given, visible=VISIBLE), torch.stack([row.mean(0) for row in real]))
    assert_close(Max()(given, visible=VISIBLE), torch.stack([row.amax(0) for row in real]))


def test_one_view_serves_every_row():
    given, everything = states(), torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    assert_close(Mean()(given, visible=everything), given.mean(1))
    assert_close(Max()(given, visible=everything), given.amax(1))


POOLS = [First(), Mean(), Max(), AttentionPool(WIDTH, HOPS, features=FEATURES)]
every_pool = pytest.mark.parametrize("pool", POOLS, ids=lambda pool: type(pool).__name__)


@every_pool
def test_pools_do_not_feel_padding(pool):
    given = states().requires_grad_()
    pool(given, visible=VISIBLE).square().sum().backward()
    assert not given.grad[1, 4:].any() and given.grad[1, :4].any()


@every_pool
def test_a_row_that_may_see_nothing_pools_to_zero_and_learns_no_nan(pool):
    given = states().requires_grad_()
    pooled = pool(given, visible=padding(torch.tensor([POSITIONS, 0]), POSITIONS))
    pooled.square().sum().backward()
    assert not pooled[1].any() and pooled[0].all()
    assert given.grad.isfinite().all() and not given.grad[1].any()


def test_the_tap_of_a_pool_records_its_weights():
    pool = AttentionPool(WIDTH, HOPS, features=FEATURES)
    with listen(pool) as recorded:
        pool(states(), visible=VISIBLE)
    (weights,) = recorded["weights"]
    assert weights.shape == (BATCH, 1, HOPS, POSITIONS)
    assert_close(weights.sum(-1), torch.ones(BATCH, 1, HOPS))


def test_cls_is_the_first_position_through_a_dense_layer():
    pool, given = Cls(WIDTH), states()
    assert_close(pool(given, visible=VISIBLE), torch.tanh(pool.dense(given[:, 0])))


def test_last_is_the_last_position_that_is_real():
    given = states()
    expected = torch.stack([given[0, 6], given[1, 3]])
    assert_close(Last()(given, visible=VISIBLE), expected)
    assert_close(Last()(given, visible=torch.zeros_like(VISIBLE)), torch.zeros(BATCH, WIDTH))


def test_mean_and_max_stand_side_by_side():
    given = states()
    both = MeanMax()(given, visible=VISIBLE)
    assert_close(both[:, :WIDTH], Mean()(given, visible=VISIBLE))
    assert_close(both[:, WIDTH:], Max()(given, visible=VISIBLE))
