"""The stream is a pure function of (seed, step), misses nothing, and pads almost nothing."""

import numpy as np
import pytest

from regard.data.batch import collate, cut_batches, pad
from regard.data.store import Store
from regard.data.stream import Stream

EXAMPLES, BUDGET = 211, 97


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 23, size=(EXAMPLES, 2))
    examples = [("a" * a, "b" * b) for a, b in lengths.tolist()]
    return Store.open_or_write(
        tmp_path_factory.mktemp("store"),
        lambda: iter(examples),
        lambda chunk: [tuple([ord(c) for c in text] for text in row) for row in chunk],
        key=(),
        longest=50,
    )


def make(store, *, seed=1, window=1 << 20):
    return Stream(store, seed=seed, batch_tokens=BUDGET, window=window)


@pytest.mark.parametrize("window", [1 << 20, 53], ids=["one window", "four windows"])
def test_every_epoch_sees_every_example_once(store, window):
    stream = make(store, window=window)
    for epoch in range(3):
        begin = epoch * stream.steps_per_epoch
        seen = np.concatenate([stream[begin + s] for s in range(stream.steps_per_epoch)])
        assert sorted(seen.tolist()) == list(range(EXAMPLES))


@pytest.mark.parametrize("window", [1 << 20, 53])
def test_a_step_is_found_without_the_steps_before_it(store, window):
    walked, sought = make(store, window=window), make(store, window=window)
    steps = 2 * walked.steps_per_epoch + 3
    in_order = [walked[step].tolist() for step in range(steps)]
    assert sought[steps - 1].tolist() == in_order[-1]
    assert [sought[step].tolist() for step in range(steps)] == in_order


def test_epochs_and_seeds_differ(store):
    stream, other = make(store), make(store, seed=2)
    steps = stream.steps_per_epoch
    first = [stream[s].tolist() for s in range(steps)]
    second = [stream[steps + s].tolist() for s in range(steps)]
    assert first != second
    assert first != [other[s].tolist() for s in range(steps)]


def test_no_step_passes_the_budget(store):
    stream = make(store)
    for step in range(stream.steps_per_epoch):
        lengths = store.lengths(stream[step])
        assert lengths.max() * len(lengths) <= BUDGET


def test_shards_share_out_a_step_without_rest(store):
    stream = make(store)
    for step in range(stream.steps_per_epoch):
        parts = [stream.select_shard(step, shard=n, shards=4) for n in range(4)]
        assert sorted(np.concatenate(parts)) == sorted(stream[step])


def test_a_row_longer_than_the_budget_stands_alone():
    assert cut_batches(np.array([2, 3, 50, 60]), budget=10).tolist() == [0, 2, 3, 4]


def test_cutting_fills_the_budget_and_no_more():
    assert cut_batches(np.array([2, 2, 2, 3, 3, 5]), budget=6).tolist() == [0, 3, 5, 6]


def test_padding_is_the_filler_and_lengths_are_true(store):
    batch = collate(store, np.array([0, 7]), filler=0)
    for field, padded in enumerate(batch.fields):
        for row, number in enumerate((0, 7)):
            real = store[number][field]
            assert padded.ids[row, : len(real)].tolist() == real.tolist()
            assert not padded.ids[row, len(real) :].any()
            assert padded.lengths[row] == len(real)
    assert pad([[5], []], filler=9).ids.tolist() == [[5], [9]]
