"""Windows: every epoch cuts the whole text anew, and measuring counts every token once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.stream import AnyStream
from regard.data.windows import Windows, cut_windows, slide_windows

CONTEXT, LENGTH, BATCH = 7, 1009, 53


def windows(**changes):
    given = {"context": CONTEXT, "seed": 3, "batch_tokens": BATCH, **changes}
    return Windows(given.pop("length", LENGTH), **given)


def epoch(stream, number):
    steps = range(number * stream.steps_per_epoch, (number + 1) * stream.steps_per_epoch)
    return np.concatenate([stream[step] for step in steps])


def test_it_is_a_stream_like_any_other():
    stream = windows()
    assert isinstance(stream, AnyStream)
    assert stream.locate(stream.steps_per_epoch + 2) == (1, 2)


def test_a_step_has_as_many_windows_as_its_tokens_pay_for():
    stream = windows()
    assert {len(stream[step]) for step in range(60)} == {BATCH // CONTEXT}
    assert len(windows(batch_tokens=2)[0]) == 1


def test_an_epoch_reads_almost_all_of_the_text_once_and_nothing_twice():
    begins = np.sort(epoch(windows(), 4))
    assert (np.diff(begins) >= CONTEXT).all() and (np.diff(begins) % CONTEXT == 0).all()
    assert begins.min() >= 0 and begins.max() + CONTEXT <= LENGTH
    unread = LENGTH - CONTEXT * len(begins)
    assert unread < 2 * CONTEXT + BATCH


def test_every_epoch_cuts_elsewhere_and_in_another_order():
    stream = windows()
    offsets = {int(epoch(stream, number)[0] % CONTEXT) for number in range(60)}
    assert offsets == set(range(CONTEXT))
    assert (epoch(stream, 0)[:20] // CONTEXT != epoch(stream, 1)[:20] // CONTEXT).any()


def test_a_step_follows_from_seed_and_number_alone():
    late = windows()[977]
    seeking = windows()
    for step in (3, 500, 2, 977):
        found = seeking[step]
    assert (found == late).all()
    assert (windows(seed=4)[977] != late).any()


def test_shards_share_a_step_out_whole():
    stream = windows()
    shares = [stream.select_shard(11, shard=n, shards=4) for n in range(4)]
    assert sorted(np.concatenate(shares)) == sorted(stream[11])


@given(st.integers(1, 60), st.integers(0, 200), st.integers(1, 90), st.integers(0, 5))
def test_every_window_lies_within_the_text(context, more, batch_tokens, number):
    length = context + more
    stream = windows(length=length, context=context, batch_tokens=batch_tokens)
    begins = epoch(stream, number)
    assert len(begins) and begins.min() >= 0 and begins.max() + context <= length


def test_a_window_comes_with_the_token_before_it():
    ids = np.arange(10, 21, dtype=np.uint32)
    rows = cut_windows(ids, np.array([0, 4, 8]), context=3, before=99)
    assert rows.tolist() == [[99, 10, 11, 12], [13, 14, 15, 16], [17, 18, 19, 20]]


@given(st.integers(1, 300), st.integers(1, 40), st.data())
def test_measuring_counts_every_token_once_with_enough_past(length, context, data):
    context = min(context, length)
    stride = data.draw(st.integers(1, context))
    times = np.zeros(length, dtype=int)
    for begin, counted in slide_windows(length, context=context, stride=stride):
        assert 0 <= begin <= length - context and 0 <= counted < context
        times[begin + counted : begin + context] += 1
        assert counted >= min(begin, context - stride)
    assert (times == 1).all()


def test_a_stride_of_a_whole_window_overlaps_at_the_end_only():
    assert slide_windows(10, context=4, stride=4) == [(0, 0), (4, 0), (6, 2)]
    assert slide_windows(10, context=4, stride=2) == [(0, 0), (2, 2), (4, 2), (6, 2)]


def test_a_text_shorter_than_a_window_is_the_tasks_to_refuse():
    with pytest.raises(AssertionError):
        windows(length=CONTEXT - 1)
