import pytest
import torch
from torch.testing import assert_close

from regard.layers.diversity import frobenius
from regard.layers.pooling import AttentionPool
from regard.layers.visibility import padding
from regard.models.build.labels import classifier
from regard.models.self_attentive import Dense, Pruned, SelfAttentive, forward_with_penalty
from regard.recipe.load import make

HOPS, WIDTH, POSITIONS, BATCH = 3, 5, 7, 2


def lin(**hops):
    settings = {
        "width": 300,
        "states": 600,
        "depth": 1,
        "bare": True,
        "mixer": {"kind": "recurrent", "cell": "lstm"},
        "position": {"kind": "none"},
        "head": {"pooling": "hops", "hops": {"hops": 30, "features": 350, **hops}},
    }
    recipe = {"task": "classification", "data": {"train": ["x.tsv"]}, "model": settings}
    return classifier(make(recipe).model, 11, 3)


def sizes(model, *parts):
    return sum(p.numel() for n, p in model.named_parameters() if n.startswith(parts))


def test_the_papers_size_has_the_papers_parameters():
    model = lin(narrow="dense", dense=2000)
    assert sizes(model, "body.stack") == 1_444_800
    assert sizes(model, "head.pool.looks") == 220_500
    assert sizes(model, "head.pool.narrow") == 36_002_000


def test_pruning_leaves_rows_and_columns_their_own():
    model = lin(narrow="pruned", row_features=7, column_features=2)
    assert sizes(model, "head.pool.narrow") == 30 * 600 * (7 + 2)
    assert model.head.to_logits.in_features == 30 * 7 + 600 * 2


def test_pruned_is_its_equation_and_prunes():
    torch.manual_seed(0)
    pruned = Pruned(HOPS, WIDTH, row_features=11, column_features=2).double()
    m = torch.randn(BATCH, HOPS, WIDTH, dtype=torch.float64, requires_grad=True)
    rows = [m[:, i] @ pruned.rows[i] for i in range(HOPS)]
    columns = [m[:, :, j] @ pruned.columns[j] for j in range(WIDTH)]
    found = pruned(m)
    assert_close(found, torch.relu(torch.cat([*rows, *columns], dim=1)))
    # What row 0 gives does not feel row 1, nor what column 0 gives column 1.
    for feature, sees in ((0, m[0, 0]), (HOPS * 11, m[0, :, 0])):
        pre = torch.cat([*rows, *columns], dim=1)[0, feature]
        (gradient,) = torch.autograd.grad(pre, m, retain_graph=True)
        assert (gradient[0] != 0).sum() == len(sees)


def test_the_embedding_is_weights_times_states():
    torch.manual_seed(0)
    pool = AttentionPool(WIDTH, HOPS, features=13, biases=False).double()
    model = SelfAttentive(pool, Dense(HOPS, WIDTH, 17).double())
    h = torch.randn(BATCH, POSITIONS, WIDTH, dtype=torch.float64)
    visible = padding(torch.tensor([7, 4]), POSITIONS)
    for row, n in enumerate((7, 4)):
        a = (pool.queries @ torch.tanh(pool.to_key.weight @ h[row, :n].T)).softmax(-1)
        m = a @ h[row, :n]
        dense = model.narrow.to_outputs
        expected = torch.relu(dense.weight @ m.flatten() + dense.bias)
        assert_close(model(h, visible=visible)[row], expected)


@pytest.mark.parametrize("narrow", ["none", "dense", "pruned"])
def test_the_penalty_is_that_of_the_recorded_weights(narrow):
    model = lin(narrow=narrow, dense=19).eval()
    ids, lengths = torch.tensor([[4, 7, 8, 9, 5], [4, 10, 5, 0, 0]]), torch.tensor([5, 3])
    passed = forward_with_penalty(model, lambda: model(ids, lengths=lengths), penalty="frobenius")
    assert_close(passed.logits, model(ids, lengths=lengths))
    with torch.no_grad():
        states = model.body(ids, visible=padding(lengths, 5))
        weights = model.head.pool.looks.attend(states, visible=padding(lengths, 5)).weights[:, 0]
    assert_close(passed.penalty, frobenius(weights))
    assert passed.penalty.requires_grad
