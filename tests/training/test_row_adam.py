"""Rows alone: what is read moves as dense Adam moves it, what is not read stays where it is."""

import pytest
import torch
from torch.testing import assert_close

from regard.layers.embedding import Ngrams
from regard.recipe.training import AdamWSettings, MuonSettings
from regard.training.optimizer import make_optimizers
from regard.training.row_adam import DECAY_EVERY, RowAdam

ROWS, WIDTH = 11, 3


def sparse(rows, values):
    return torch.sparse_coo_tensor(
        torch.tensor([rows]), values, (ROWS, WIDTH), check_invariants=True
    )


def test_rows_read_at_every_step_move_as_torchs_adam_moves_them():
    torch.manual_seed(0)
    ours = torch.nn.Parameter(torch.randn(ROWS, WIDTH, dtype=torch.float64))
    theirs = torch.nn.Parameter(ours.detach().clone())
    mine = RowAdam([ours], rate=0.03, betas=(0.8, 0.95), epsilon=1e-12)
    other = torch.optim.AdamW([theirs], lr=0.03, betas=(0.8, 0.95), eps=1e-12, weight_decay=0.0)
    for _ in range(7):
        gradient = torch.randn(ROWS, WIDTH, dtype=torch.float64)
        ours.grad, theirs.grad = sparse(list(range(ROWS)), gradient), gradient
        mine.step()
        other.step()
    assert_close(ours, theirs)


def test_rows_that_nobody_read_stay_where_they_are_and_one_read_twice_moves_once():
    torch.manual_seed(0)
    table = torch.nn.Parameter(torch.randn(ROWS, WIDTH))
    before = table.detach().clone()
    table.grad = sparse([2, 5, 2], torch.ones(3, WIDTH))
    RowAdam([table], rate=0.1, weight_decay=0.5).step()
    moved = (table - before).abs().amax(dim=1) > 0
    assert moved.nonzero().flatten().tolist() == [2, 5]
    assert_close(before[2] - table[2], torch.full((WIDTH,), 0.1))


def test_all_rows_pay_their_decay_together():
    table = torch.nn.Parameter(torch.ones(ROWS, WIDTH))
    optimizer = RowAdam([table], rate=0.01, weight_decay=2.0)
    for step in range(DECAY_EVERY):
        assert table[7, 0] == 1.0, step
        table.grad = sparse([2], torch.ones(1, WIDTH))
        optimizer.step()
    assert_close(table[7], torch.full((WIDTH,), (1 - 0.02) ** DECAY_EVERY))


@pytest.mark.parametrize("settings", [AdamWSettings(), MuonSettings(kind="muon")])
@pytest.mark.parametrize("lazy", [False, True])
def test_every_parameter_has_one_optimizer_and_lazy_tables_have_their_own(settings, lazy):
    model = torch.nn.Module()
    model.map = torch.nn.Linear(WIDTH, WIDTH)
    model.runs = Ngrams(3, rows=ROWS, width=WIDTH, boundary=0, lazy=lazy)
    optimizers = make_optimizers(model, settings)
    held = [w for each in optimizers for group in each.param_groups for w in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, model.parameters()))
    own = [
        w
        for each in optimizers
        if isinstance(each, RowAdam)
        for w in each.param_groups[0]["params"]
    ]
    assert [id(w) for w in own] == ([id(w) for w in model.runs.tables] if lazy else [])


def test_lazy_gradients_are_the_dense_ones():
    ids = torch.randint(1, 9, (5, 13))
    gradients = []
    for lazy in (False, True):
        runs = Ngrams(3, rows=ROWS, width=WIDTH, boundary=0, lazy=lazy)
        runs(ids).square().add(runs(ids)).sum().backward()
        gradients.append([table.grad.to_dense() for table in runs.tables])
    assert_close(*gradients)
