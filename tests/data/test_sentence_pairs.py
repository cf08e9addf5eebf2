"""Pairs of spans: true ones are adjacent, wrong ones cannot be recognised by their shape."""

import numpy as np
import pytest

from regard.data.sentence_pairs import FRAME, SentencePairs
from regard.errors import DataError
from regard.text.special import CLS, PAD, SEP

LONGEST = 41


def corpus(kind="next-sentence", documents=29, longest=LONGEST, seed=5):
    """Tokens count upwards from 1,000 and say their document in the thousands."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, size=documents)
    sentences = rng.integers(2, 13, size=counts.sum())
    owners = np.repeat(np.arange(documents), counts)
    ids = []
    for document in range(documents):
        size = sentences[owners == document].sum()
        ids.append(1000 * (document + 1) + np.arange(size))
    return SentencePairs(
        np.concatenate(ids).astype(np.uint32),
        sentences.astype(np.uint32),
        counts,
        longest=longest,
        kind=kind,
    )


def many(pairs, rounds=11):
    rng = np.random.default_rng(7)
    return [pairs.pair(int(n), rng) for _ in range(rounds) for n in pairs.list_rows()]


def test_half_of_the_pairs_are_true_and_these_follow_on_one_another():
    found = many(corpus())
    labels = np.array([pair.label for pair in found])
    assert abs(labels.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(labels))
    for first, second, label in found:
        both = np.concatenate([first, second])
        steps = (both // 1000 == first[0] // 1000).all() and (np.diff(both) == 1).all()
        assert steps == bool(label)


def test_a_wrong_second_span_is_of_another_document_and_starts_and_ends_with_sentences():
    pairs = corpus()
    starts = set(pairs.ids[pairs.begins[:-1]].tolist())
    ends = set(pairs.ids[pairs.begins[1:] - 1].tolist())
    whole = 0
    for first, second, label in many(pairs):
        if not label:
            assert len(set((second // 1000).tolist())) == 1
            assert second[0] // 1000 != first[0] // 1000
            assert second[0] in starts
            whole += second[-1] in ends
    wrong = sum(not pair.label for pair in many(pairs))
    assert whole > 0.97 * wrong  # the rest did not fit otherwise


def test_a_wrong_second_span_is_about_as_long_as_a_true_one():
    lengths = {0: [], 1: []}
    for _, second, label in many(corpus(documents=211)):
        lengths[label].append(len(second))
    assert abs(np.mean(lengths[0]) - np.mean(lengths[1])) < 0.5


def test_order_pairs_are_the_same_two_spans_swapped():
    for first, second, label in many(corpus("sentence-order")):
        early, late = (first, second) if label else (second, first)
        assert (np.diff(np.concatenate([early, late])) == 1).all()


def test_rows_are_framed_and_say_which_span_is_which():
    pairs = corpus()
    rows = pairs.rows(pairs.list_rows(), np.random.default_rng(3))
    for ids, length, segments in zip(rows.ids, rows.lengths, rows.segments, strict=True):
        assert length <= LONGEST
        between, end = np.flatnonzero(ids[:length] == SEP)
        assert ids[0] == CLS
        assert end == length - 1
        assert (ids[length:] == PAD).all()
        assert segments.tolist() == [0] * (between + 1) + [1] * (length - between - 1) + [0] * (
            len(ids) - length
        )


def test_every_sentence_of_documents_with_several_is_in_a_chunk_unless_it_is_left_alone():
    pairs = corpus()
    assert (pairs.chunks[:, 1] > 1).all()
    used = np.concatenate([np.arange(first, first + count) for first, count in pairs.chunks])
    assert len(used) == len(set(used.tolist()))
    assert (pairs.lengths(pairs.list_rows())[:, 0] <= LONGEST).all()


def test_a_sentence_longer_than_half_a_row_is_cut():
    lengths = np.array([90, 90], dtype=np.uint32)
    ids = np.arange(1000, 1180, dtype=np.uint32)
    pairs = SentencePairs(ids, lengths, np.array([2]), longest=LONGEST, kind="sentence-order")
    rows = pairs.rows(np.array([0]), np.random.default_rng(1))
    assert rows.lengths.tolist() == [2 * ((LONGEST - FRAME) // 2) + FRAME]


def test_the_same_generator_gives_the_same_rows():
    pairs = corpus()
    one, same = (pairs.rows(pairs.list_rows(), np.random.default_rng(9)) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))


def test_documents_of_one_sentence_make_no_pairs_and_one_document_has_no_negatives():
    ids, one = np.arange(20, dtype=np.uint32), np.array([10, 10], dtype=np.uint32)
    with pytest.raises(DataError, match="at least two sentences"):
        SentencePairs(ids, one, np.array([1, 1]), longest=31, kind="sentence-order")
    with pytest.raises(DataError, match="other documents"):
        SentencePairs(ids, one, np.array([2]), longest=31, kind="next-sentence")
