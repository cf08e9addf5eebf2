import pytest
import torch
from torch.testing import assert_close

from regard.layers.distance import Alibi, RelativeBuckets, RelativeTable


def numbered(bias):
    """Let every learned number be its own index, so that the bias shows which one was used."""
    bias.table.data = torch.arange(float(bias.table.shape[1])).repeat(len(bias.table), 1)
    return bias


def test_a_full_table_has_one_number_per_head_and_distance():
    table = RelativeTable(heads=8, positions=512)
    assert sum(weight.numel() for weight in table.parameters()) == 8 * (2 * 512 - 1) == 8184


def test_a_full_table_is_read_by_how_far_ahead_the_key_stands():
    table = numbered(RelativeTable(heads=2, positions=5))
    assert table(3, 3)[0, 1].tolist() == [[4, 5, 6], [3, 4, 5], [2, 3, 4]]
    assert table(5, 5)[0, 0, 0, 4] == 8 and table(5, 5)[0, 0, 4, 0] == 0


def test_a_full_table_refuses_what_is_too_long():
    table = RelativeTable(heads=2, positions=5)
    with pytest.raises(ValueError, match="Got 6, table of 5"):
        table(1, 6)


FIRST_OF_EACH_BUCKET = [*range(8), 8, 12, 16, 23, 32, 46, 64, 91]
"""T5's sixteen buckets of one side, with 128 as the farthest distance."""


def test_buckets_are_those_of_t5():
    buckets = numbered(RelativeBuckets(heads=3, buckets=32, farthest=128))
    bias = buckets(201, 201)[0, 2]
    behind, ahead = bias[200].flip(0), bias[0]
    expected = [sum(first <= d for first in FIRST_OF_EACH_BUCKET) - 1 for d in range(201)]
    assert behind.tolist() == expected
    assert ahead[1:].tolist() == [16 + bucket for bucket in expected[1:]]


def test_causal_buckets_all_serve_what_is_behind():
    buckets = numbered(RelativeBuckets(heads=1, buckets=16, farthest=128, causal=True))
    behind = buckets(201, 201)[0, 0, 200].flip(0)
    expected = [sum(first <= d for first in FIRST_OF_EACH_BUCKET) - 1 for d in range(201)]
    assert behind.tolist() == expected
    assert buckets.table.numel() == 16


@pytest.mark.parametrize(("buckets", "farthest"), [(2, 128), (32, 8)])
def test_buckets_that_make_no_sense_are_refused(buckets, farthest):
    with pytest.raises(ValueError, match=f"Got buckets={buckets}, farthest={farthest}"):
        RelativeBuckets(heads=1, buckets=buckets, farthest=farthest)


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (8, [2.0**-n for n in range(1, 9)]),
        (12, [2.0**-n for n in range(1, 9)] + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_alibi_has_the_papers_slopes(heads, slopes):
    bias = Alibi(heads, causal=True)(5, 5)[0]
    assert_close(bias[:, 4, 3], -torch.tensor(slopes))
    assert_close(bias[:, 4, 0], -4 * torch.tensor(slopes))
    assert not bias.triu().any()


def test_free_alibi_counts_one_side_twice_so_that_a_mirror_image_differs():
    bias = Alibi(2)(5, 5)[0]
    near, far = bias[:, 2, 1], bias[:, 2, 3]
    assert near.tolist() == [-(2**-4), -2 * 2**-8]
    assert far.tolist() == [-2 * 2**-4, -(2**-8)]


def test_alibi_has_nothing_to_learn_or_save():
    assert not list(Alibi(4).parameters()) and not Alibi(4).state_dict()
