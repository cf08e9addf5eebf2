"""Places of tokens: every one once an epoch, far apart within a step, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.store import Store
from regard.data.token_sampler import TokenSampler


@settings(deadline=None)
@given(st.integers(1, 3000), st.integers(1, 500), st.integers(0, 5))
def test_an_epoch_meets_every_token_once(tokens, rows, epoch):
    places = TokenSampler(tokens, seed=3, batch_tokens=rows)
    first = epoch * places.steps_per_epoch
    met = [places[first + step] for step in range(places.steps_per_epoch)]
    assert sorted(np.concatenate(met).tolist()) == list(range(tokens))
    assert max(map(len, met)) <= rows


@pytest.mark.parametrize("tokens", [10_007, 65_536, 1_000_000])
def test_a_step_s_tokens_stand_far_apart(tokens):
    step = np.sort(TokenSampler(tokens, seed=1, batch_tokens=101)[7])
    gaps = np.diff(np.append(step, step[0] + tokens))
    assert gaps.min() > tokens / 101 / 3
    assert gaps.max() < tokens / 101 * 3


def test_epochs_differ_and_seeds_do_and_nothing_else_does():
    places, again, other = (TokenSampler(997, seed=seed, batch_tokens=100) for seed in (1, 1, 2))
    assert places[3].tolist() == again[3].tolist()
    assert places[3].tolist() != other[3].tolist()
    assert places[3].tolist() != places[3 + places.steps_per_epoch].tolist()
    assert places.locate(12) == (1, 2)


def test_shards_share_a_step_out():
    places = TokenSampler(997, seed=1, batch_tokens=101)
    parts = [places.select_shard(2, shard=shard, shards=4) for shard in range(4)]
    assert sorted(np.concatenate(parts).tolist()) == sorted(places[2].tolist())


def test_very_many_tokens_do_not_run_over():
    places = TokenSampler(3_000_000_019, seed=1, batch_tokens=7)
    last = places[places.steps_per_epoch - 1]
    assert ((last >= 0) & (last < places.tokens)).all()
    assert len(set(last.tolist())) == len(last)


def test_a_store_knows_the_owner_of_a_place(tmp_path):
    texts = [(n * "a",) for n in (3, 0, 1, 5)]
    store = Store.open_or_write(
        tmp_path,
        lambda: texts,
        lambda some: [(list(range(len(text))),) for (text,) in some],
        key=("k",),
        longest=None,
    )
    owners, begins = store.owners(0, np.arange(9))
    assert owners.tolist() == [0, 0, 0, 2, 3, 3, 3, 3, 3]
    assert begins.tolist() == [0, 0, 0, 3, 4, 4, 4, 4, 4]
