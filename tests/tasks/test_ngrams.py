"""The n-gram model is the one of the paper: probabilities sum to one, and match a plain count."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from numpy.testing import assert_allclose

from regard.tasks.language import ngrams
from regard.tasks.language.ngrams import NgramModel, learn_ngrams

TOKENS, BOUNDARY = 101, 3


def text(length=1709, seed=0):
    """Draw a text with habits: common and rare tokens, often decided by the two before."""
    rng = np.random.default_rng(seed)
    ids = [4, 5]
    while len(ids) < length:
        habit = 4 + (3 * ids[-1] + 5 * ids[-2]) % 7
        ids.append(int(habit if rng.random() < 0.5 else min(TOKENS - 1, 3 + rng.zipf(1.5))))
    return ids


def model(ids, order):
    tables = learn_ngrams(ids, order=order, tokens=TOKENS, boundary=BOUNDARY)
    return NgramModel(tables, tokens=TOKENS, boundary=BOUNDARY)


def counted_by_hand(ids, order, length):
    joined = [BOUNDARY] * (order - 1) + list(ids)

    def ngrams_of(length):
        return [tuple(joined[n : n + length]) for n in range(len(joined) - length + 1)]

    if length == order:
        return Counter(ngrams_of(length))
    return Counter(ngram[1:] for ngram in set(ngrams_of(length + 1)))


def level_by_hand(ids, order, length):
    counts = counted_by_hand(ids, order, length)
    of = Counter(counts.values())
    y = of[1] / max(1, of[1] + 2 * of[2])
    discounts = {k: k - (k + 1) * y * of[k + 1] / max(1, of[k]) for k in (1, 2, 3)}
    discounts = {k: min(max(d, 0.1), k - 0.1) for k, d in discounts.items()}
    follows = defaultdict(dict)
    for ngram, count in counts.items():
        follows[ngram[:-1]][ngram[-1]] = count
    return discounts, follows


def by_hand(ids, order):
    """Return p(token | context) as Chen and Goodman write it, with dictionaries."""
    levels = [level_by_hand(ids, order, length + 1) for length in range(order)]

    def p(token, context):
        if context is None:
            return 1 / TOKENS
        discounts, follows = levels[len(context)]
        lower = p(token, context[1:] if context else None)
        if context not in follows:
            return lower
        seen = follows[context]
        taken = sum(discounts[min(count, 3)] for count in seen.values())
        own = seen[token] - discounts[min(seen[token], 3)] if token in seen else 0.0
        return (own + taken * lower) / sum(seen.values())

    return p


@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_agrees_with_a_count_by_hand(order):
    learned, asked = text(20011), text(131, seed=1)
    p = by_hand(learned, order)
    joined = [BOUNDARY] * (order - 1) + asked
    expected = [
        np.log(p(joined[n + order - 1], tuple(joined[n : n + order - 1]))) for n in range(131)
    ]
    assert_allclose(model(learned, order).log_p(np.array(asked)), expected, rtol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("before", [[], [4], [5, 2, 7, 1, 0], [9, 9, 9, 9], [BOUNDARY, 6]])
def test_probabilities_sum_to_one_after_anything(order, before):
    learned = model(text(), order)
    each = [np.exp(learned.log_p(np.array([*before, w]))[-1]) for w in range(TOKENS)]
    assert_allclose(sum(each), 1.0, atol=1e-6)
    assert min(each) > 0


def test_they_still_do_when_ngrams_are_left_out(monkeypatch):
    whole = model(text(), 4)
    monkeypatch.setattr(ngrams, "MOST_RUNS", 47)
    tables = learn_ngrams(text(), order=4, tokens=TOKENS, boundary=BOUNDARY)
    assert max(map(len, tables.values())) == 47
    bounded = NgramModel(tables, tokens=TOKENS, boundary=BOUNDARY)
    for before in ([4, 5, 1], [0, 0, 2]):
        each = [np.exp(bounded.log_p(np.array([*before, w]))[-1]) for w in range(TOKENS)]
        assert_allclose(sum(each), 1.0, atol=1e-6)
    asked = np.array(text(307, seed=1))
    assert bounded.log_p(asked).mean() < whole.log_p(asked).mean()
    assert bounded.log_p(asked).mean() > model(text(), 1).log_p(asked).mean()


def test_a_higher_order_helps_on_repetitive_text():
    asked = np.array(text(1009, seed=1))
    losses = [-model(text(20011), order).log_p(asked).mean() for order in (1, 2, 3)]
    assert losses[2] < min(losses[:2]) - 0.2
    assert losses[0] < np.log(TOKENS)


def test_a_text_that_never_varies_leaves_something_for_the_rest():
    learned = model([5] * 1009, 3)
    assert learned.log_p(np.array([5, 5, 5, 5]))[3] > np.log(0.9)
    assert np.isfinite(learned.log_p(np.array([7, 5, 7]))).all()


def test_only_a_bounded_part_of_a_text_is_counted(monkeypatch):
    monkeypatch.setattr(ngrams, "MOST_TOKENS", 211)
    some = learn_ngrams(iter(text()), order=2, tokens=TOKENS, boundary=BOUNDARY)
    same = learn_ngrams(text()[:211], order=2, tokens=TOKENS, boundary=BOUNDARY)
    assert all((some[name] == same[name]).all() for name in same)
