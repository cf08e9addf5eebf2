import pytest
import torch
from torch.testing import assert_close

from regard.layers.block import BlockMemory
from regard.layers.memory import Memory


def test_memory_is_empty_at_first_and_holds_tensors_by_name():
    memory = Memory()
    assert len(memory) == 0 and memory.positions == 0
    memory["key"] = torch.zeros(2, 3)
    assert list(memory) == ["key"] and "value" not in memory
    del memory["key"]
    with pytest.raises(KeyError):
        memory["key"]


def test_what_is_appended_stands_behind_what_was_kept():
    memory = Memory()
    one, two = torch.randn(2, 3, 5), torch.randn(2, 1, 5)
    assert memory.append("key", one, dim=1) is one
    assert_close(memory.append("key", two, dim=1), torch.cat([one, two], dim=1))
    assert memory["key"].shape == (2, 4, 5)


def test_keep_repeats_drops_and_reorders_rows_of_every_tensor():
    memory = Memory()
    memory["a"], memory["b"] = torch.arange(3.0), torch.arange(6.0).view(3, 2)
    memory.positions = 7
    memory.keep(torch.tensor([2, 2, 0, 1]))
    assert memory["a"].tolist() == [2, 2, 0, 1]
    assert memory["b"].tolist() == [[4, 5], [4, 5], [0, 1], [2, 3]]
    assert memory.positions == 7
    memory.keep(torch.tensor([], dtype=torch.long))
    assert memory["b"].shape == (0, 2)


def test_a_block_keeps_rows_of_both_its_memories():
    memory = BlockMemory()
    memory.own["a"], memory.cross["b"] = torch.arange(3.0), torch.arange(3.0)
    for rows in ([2, 2, 0], [1, 0, 2], [2, 1, 0], [0, 0], [1, 0], [0]):
        memory.keep(torch.tensor(rows))
        assert memory.own["a"].tolist() == memory.cross["b"].tolist()
    assert memory.cross["b"].tolist() == [0]


def test_a_context_is_not_moved_when_answers_to_one_source_change_places():
    memory = BlockMemory()
    memory.cross["b"] = torch.arange(2.0)
    memory.keep(torch.tensor([0, 0, 0, 1, 1, 1]))
    kept = memory.cross["b"]
    memory.keep(torch.tensor([2, 0, 0, 3, 5, 4]))
    assert memory.cross["b"] is kept
    memory.keep(torch.tensor([3, 0, 0, 3, 5, 4]))
    assert memory.cross["b"].tolist() == [1, 0, 0, 1, 1, 1]


def test_a_context_first_seen_after_rows_were_kept_belongs_to_the_rows_as_they_are_then():
    memory = BlockMemory()
    memory.keep(torch.tensor([0, 0]))
    memory.cross["b"] = torch.arange(2.0)
    memory.keep(torch.tensor([1, 0]))
    assert memory.cross["b"].tolist() == [1, 0]
