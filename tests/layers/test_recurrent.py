import pytest
import torch
from torch.testing import assert_close

from regard.layers.memory import Memory
from regard.layers.recurrent import Recurrent
from regard.layers.visibility import causal, padding

WIDTH, POSITIONS = 6, 7


def states():
    torch.manual_seed(0)
    return torch.randn(2, POSITIONS, WIDTH)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_free_mixer_reads_each_row_backwards_from_its_last_word(cell):
    mixer, given = Recurrent(WIDTH, cell=cell, causal=False), states()
    mixed = mixer(given, visible=padding(torch.tensor([7, 4]), POSITIONS))
    alone = mixer(given[1:, :4], visible=torch.ones(1, 1, 1, 4, dtype=torch.bool))
    assert_close(mixed[1:, :4], alone)


def test_padding_is_read_from_the_last_query_of_a_full_view():
    mixer, given = Recurrent(WIDTH, causal=False), states()
    rows = padding(torch.tensor([7, 4]), POSITIONS)
    full = rows & causal(POSITIONS, POSITIONS)
    assert_close(mixer(given, visible=full), mixer(given, visible=rows))


def test_an_odd_width_cannot_be_shared_by_two_directions():
    with pytest.raises(ValueError, match="Got width=5; 6 fits"):
        Recurrent(5, causal=False)
    Recurrent(5, causal=True)


def test_a_mixer_that_reads_both_ways_has_no_memory():
    visible = torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    with pytest.raises(ValueError, match="Only a causal mixer"):
        Recurrent(WIDTH, causal=False)(states(), visible=visible, memory=Memory())


def test_memory_has_rows_first():
    memory, visible = Memory(), torch.ones(1, 1, 1, POSITIONS, dtype=torch.bool)
    Recurrent(WIDTH, cell="lstm", causal=True)(states(), visible=visible, memory=memory)
    assert {name: tuple(kept.shape) for name, kept in memory.items()} == {
        "hidden": (2, 1, WIDTH),
        "cell": (2, 1, WIDTH),
    }
