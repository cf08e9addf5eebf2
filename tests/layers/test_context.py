import pytest
import torch
from torch.testing import assert_close

from regard.layers.context import ContextPool
from regard.layers.pooling import AttentionPool
from regard.layers.visibility import padding

BATCH, POSITIONS, WIDTH, FEATURES = 2, 7, 5, 11
VISIBLE = padding(torch.tensor([7, 3]), POSITIONS)


@pytest.fixture(params=[False, True], ids=["plain", "gated"])
def pool(request):
    torch.manual_seed(0)
    return ContextPool(WIDTH, features=FEATURES, gated=request.param).double()


def given(seed=1):
    torch.manual_seed(seed)
    states = torch.randn(BATCH, POSITIONS, WIDTH, dtype=torch.float64)
    return states, torch.randn(BATCH, WIDTH, dtype=torch.float64)


def test_it_is_the_papers_equation(pool):
    states, context = given()
    w, b, wc = pool.to_key.weight, pool.to_key.bias, pool.from_context.weight
    for row in range(BATCH):
        n = (7, 3)[row]
        h, c = states[row, :n], context[row]
        share = torch.ones(n, 1, dtype=h.dtype)
        other = share
        if pool.gate is not None:
            share = torch.sigmoid(pool.gate(h) + pool.gate_context(c))
            other = 1 - share
        u = torch.tanh(share * (h @ w.T) + other * (wc @ c) + b)
        a = (u @ pool.queries[0]).softmax(0)
        mixed, weights = pool.attend(states, visible=VISIBLE, context=context)
        assert_close(weights[row, 0, 0, :n], a)
        assert_close(mixed[row, 0, 0], a @ h)
        assert weights[row, 0, 0, n:].eq(0).all()


def test_the_context_changes_the_attention(pool):
    states, context = given()
    first = pool.attend(states, visible=VISIBLE, context=context).weights
    second = pool.attend(states, visible=VISIBLE, context=-context).weights
    assert (first - second).abs().max() > 1e-3


def test_without_context_and_gate_it_is_hans_attention():
    torch.manual_seed(0)
    pool, han = ContextPool(WIDTH, features=FEATURES), AttentionPool(WIDTH, features=FEATURES)
    han.to_key.load_state_dict(pool.to_key.state_dict())
    han.queries.data.copy_(pool.queries)
    states = given()[0].float()
    found = pool.attend(states, visible=VISIBLE, context=torch.zeros(BATCH, WIDTH))
    assert_close(found.mixed[:, 0], han(states, visible=VISIBLE))
