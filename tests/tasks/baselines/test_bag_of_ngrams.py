"""The baseline: hashing, ratios, the bottom of its valley, and what it scores."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.tasks.baselines.bag_of_ngrams import BagOfNgrams, _numbered, _Problem, _ratios, fit
from regard.tasks.baselines.hashed_ngrams import Bags, bags, joined
from regard.tasks.baselines.lbfgs import descend
from regard.tasks.baselines.pair_features import pair_features

IMDB = Path(__file__).parents[2].parent / "shared" / "data" / "imdb"


def rows_of(text):
    return set(bags([text]).rows.tolist())


def test_a_text_holds_its_runs_of_one_to_three_words_once_each():
    assert len(rows_of("the cat saw the cat")) == 3 + 3 + 3
    assert rows_of("a b c") > rows_of("a b") > rows_of("a")
    assert not rows_of("a") & rows_of("b")
    assert rows_of("b a") != rows_of("a b")


def test_capitals_are_folded_and_punctuation_runs_are_words():
    assert rows_of("Good FILM!!!") == rows_of("good film !!!")
    assert rows_of("film!!!") != rows_of("film!")
    assert len(rows_of("film!!!")) == 3


def test_no_run_reaches_into_the_next_text_and_order_is_kept():
    together = bags(["a b", "", "c d e", "a b"])
    assert np.diff(together.offsets).tolist() == [3, 0, 6, 3]
    assert set(together.rows[:3].tolist()) == rows_of("a b") == set(together.rows[-3:].tolist())


def test_chunks_change_nothing():
    texts = [f"word{n % 7} is {n % 5}" for n in range(1031)]
    whole, parts = bags(texts), joined(bags([text]) for text in texts)
    assert whole.offsets.tolist() == parts.offsets.tolist()
    assert whole.rows.tolist() == parts.rows.tolist()


def test_hashes_are_the_same_on_every_machine():
    assert sorted(rows_of("not good")) == [2359993, 5645589, 11518618]


def test_what_stands_in_too_few_texts_is_left_out_where_texts_are_long():
    # 31 texts of 60 own words each and 3 that others share: 40 for every text leave the shared ones.
    long = [
        " ".join([*(f"w{n}x{m}" for m in range(60)), f"s{n % 2}", f"t{n % 3}"]) for n in range(31)
    ]
    short = [f"w{n} s{n % 2}" for n in range(31)]
    targets = torch.tensor([[float(n % 2)] for n in range(31)])
    kept = fit(bags(long), targets, exclusive=True, trust=5.0)
    every = fit(bags(short), targets, exclusive=True, trust=5.0)
    shared = {row for n in range(3) for row in rows_of(f"s{n}") | rows_of(f"t{n}")} & set(
        bags(long).rows.tolist()
    )
    assert set(kept.rows.tolist()) >= shared
    assert len(kept.rows) < 40 * 31 < len(set(bags(long).rows.tolist()))
    assert set(every.rows.tolist()) == set(bags(short).rows.tolist())


def test_ratios_are_those_of_the_paper():
    # Two features: the first in texts 0 and 1 (true, true), the second in 1 and 2 (true, false).
    found = _ratios(
        Bags(np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 3, 4])),
        2,
        torch.tensor([[1.0], [1.0], [0.0]]),
    )
    p, q = np.array([3, 2]) / 5, np.array([1, 2]) / 3
    torch.testing.assert_close(
        found[:, 0].double(), torch.from_numpy(np.log(p / q)), rtol=1e-6, atol=0
    )


@pytest.mark.parametrize(("columns", "exclusive"), [(1, True), (3, True), (2, False)])
def test_the_gradient_is_that_of_the_loss(columns, exclusive):
    torch.manual_seed(0)
    texts = Bags(np.array([0, 2, 1, 2, 3, 0], np.int32), np.array([0, 2, 2, 5, 6]))
    targets = torch.rand(4, columns)
    if exclusive and columns > 1:
        targets = targets / targets.sum(dim=1, keepdim=True)
    ratios, further = torch.randn(5, columns), torch.randn(4, 2)
    problem = _Problem(texts, ratios, further, targets, exclusive=exclusive, trust=1.7)
    place = torch.randn(5 + 2 + 1, columns)
    _, gradient = problem._look(place)
    for at in range(place.numel()):
        nudge = torch.zeros(place.numel())
        nudge[at] = 1e-2
        up, down = (problem._look(place + s * nudge.reshape(place.shape))[0] for s in (1, -1))
        assert float(gradient.flatten()[at]) == pytest.approx((up - down) / 2e-2, abs=2e-2)


def test_descent_finds_the_bottom_of_a_narrow_valley():
    def look(x):
        a, b = x[0], x[1]
        height = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        slope = torch.stack([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
        return float(height), slope

    found = descend(look, torch.tensor([-1.2, 1.0], dtype=torch.double), rounds=200, flat=1e-9)
    torch.testing.assert_close(found, torch.ones(2, dtype=torch.double), rtol=1e-5, atol=1e-5)


def world(count, seed):
    """Texts whose label only a pair of words tells: "not" turns the next word around."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        good, turned = rng.integers(2), rng.integers(2)
        noise = [f"w{n}" for n in rng.integers(0, 50, size=6)]
        texts.append(" ".join([*noise, *["not"] * turned, "good" if good else "bad"]))
        labels.append(int(good != turned))
    return texts, torch.tensor(labels)


def test_it_learns_what_only_pairs_of_words_tell_and_keeps_it():
    texts, labels = world(307, 1)
    found = fit(bags(texts), labels[:, None].float(), exclusive=True, trust=5.0)
    new, true = world(101, 2)
    logits = found.logits(bags(new))
    assert float(((logits[:, 0] > 0) == true).float().mean()) > 0.9
    kept = BagOfNgrams.load({n: t.clone() for n, t in found.parameters().items()})
    torch.testing.assert_close(kept.logits(bags(new)), logits, rtol=1e-2, atol=1e-2)
    again = fit(bags(texts), labels[:, None].float(), exclusive=True, trust=5.0)
    assert torch.equal(again.weights, found.weights)


def test_unknown_and_empty_texts_get_the_bias():
    texts, labels = world(53, 1)
    found = fit(bags(texts), labels[:, None].float(), exclusive=True, trust=1.0)
    logits = found.logits(bags(["", "quite unheard of"]))
    assert logits[:, 0].tolist() == pytest.approx([float(found.biases[0])] * 2)


def test_it_keeps_the_most_frequent_features_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr("regard.tasks.baselines.bag_of_ngrams.MOST_FEATURES", 11)
    texts, labels = world(53, 1)
    found = fit(bags(texts), labels[:, None].float(), exclusive=True, trust=1.0)
    assert 0 < len(found.rows) <= 11
    assert set(rows_of("good")) & set(found.rows.tolist())


def test_many_rows_are_counted_as_few_are_sorted(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 97, size=211, dtype=np.int32)
    slow = _numbered(rows)
    monkeypatch.setattr("regard.tasks.baselines.bag_of_ngrams.FEW", 0)
    for one, other in zip(slow, _numbered(rows), strict=True):
        assert one.tolist() == other.tolist()


def test_pairs_are_seen_from_both_sides():
    sides, _ = pair_features([("c", "d"), ("d", "c")])
    assert len(set(sides.rows.tolist())) == 6
    seen, numbers = pair_features([("a b c", "a b d"), ("a b d", "a b c"), ("x", "x")])
    first, second = (set(seen.rows[seen.offsets[n] : seen.offsets[n + 1]].tolist()) for n in (0, 1))
    assert first != second and first & second  # what both have is the same, the rest is not
    assert numbers.shape == (3, 15)
    assert numbers[0, :3].tolist() == pytest.approx([2 / 4, 2 / 3, 2 / 3])
    assert numbers[2, :3].tolist() == [1.0, 1.0, 1.0]
    assert numbers[0, -3:].tolist() == pytest.approx([np.log(4), np.log(4), 0.0])


@pytest.mark.slow
@pytest.mark.skipif(not IMDB.is_dir(), reason="../shared/data/imdb is not there")
def test_it_reads_reviews_as_well_as_the_literature_says():
    def load(name):
        with gzip.open(IMDB / name, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    train, dev = load("train.jsonl.gz"), load("dev.jsonl.gz")
    targets = torch.tensor([[float(one["label"] == "positive")] for one in train])
    found = fit(bags(one["text"] for one in train), targets, exclusive=True, trust=5.0)
    said = found.logits(bags(one["text"] for one in dev))[:, 0] > 0
    true = torch.tensor([one["label"] == "positive" for one in dev])
    assert float((said == true).float().mean()) >= 0.915
