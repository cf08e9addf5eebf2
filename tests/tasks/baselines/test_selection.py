"""Cross-validation: settings and calibration come from texts that were not learned from."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.tasks.baselines import selection
from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, Ngrams, hash_ngrams
from regard.tasks.baselines.linear_model import (
    Examples,
    count_documents,
    fit,
    mix,
    standardize,
    vectorize,
)
from regard.tasks.baselines.logistic_regression import Matrix, fit_logistic
from regard.tasks.baselines.selection import _features, _held_out, choose, fit_baseline

IMDB = Path(__file__).parents[4] / "shared" / "data" / "imdb"
RANDOM = np.random.default_rng(3)


def make_examples(texts, targets, numbers=None):
    bags = hash_ngrams(texts, Ngrams())
    numbers = np.zeros((len(bags), 0), np.float32) if numbers is None else numbers
    return Examples(bags, numbers, torch.as_tensor(targets).float())


def draw_texts(count, words=97, longest=13):
    lengths = RANDOM.integers(3, longest, size=count)
    return [" ".join(f"w{n}" for n in RANDOM.integers(words, size=long)) for long in lengths]


def test_dense_features_give_the_regression_on_ngrams():
    texts, true = draw_texts(50), RANDOM.random((50, 3))
    numbers = RANDOM.normal(size=(50, 2)).astype(np.float32)
    examples = make_examples(texts, true / true.sum(axis=1, keepdims=True), numbers)
    some = RANDOM.permutation(50)[:40]
    ((_, features),) = _features(examples, some, (0.3,))
    targets = examples.targets[some]
    found = dict(_held_out(features, targets, exclusive=True))
    rows, idf = count_documents(examples.bags)
    boundary = int(np.searchsorted(rows, CHARACTER_ROW))
    vectors = mix(vectorize(examples.bags, rows, idf), boundary, 0.3).select(some)
    scale = torch.from_numpy(np.stack([numbers.mean(axis=0), numbers.std(axis=0) + 1e-6]))
    further = standardize(numbers, scale)[some]
    rest, held = np.arange(40) % 5 != 2, np.arange(40) % 5 == 2
    matrix = Matrix(further[rest], vectors.select(np.flatnonzero(rest)), len(rows))
    weights = fit_logistic(matrix, targets[rest], strength=3.0, exclusive=True, flat=1e-4)
    asked = Matrix(further[held], vectors.select(np.flatnonzero(held)), len(rows))
    logits = asked.times(weights[:-1]) + weights[-1]
    torch.testing.assert_close(found[3.0][held], logits, rtol=0, atol=0.02)
    assert logits.std() > 0.15


def test_characters_are_chosen_where_endings_tell_the_label():
    stems = ["".join(RANDOM.choice(list("abcdefgh"), size=5)) for _ in range(200)]
    true = RANDOM.integers(2, size=200)
    texts = [stem + ("xu" if label else "yi") for stem, label in zip(stems, true, strict=True)]
    assert choose(make_examples(texts, true[:, None]), (0.0, 1.0), exclusive=True).share == 1.0


def test_words_are_chosen_where_their_order_tells_the_label():
    true = RANDOM.integers(2, size=200)
    texts = ["one two" if label else "two one" for label in true]
    assert choose(make_examples(texts, true[:, None]), (0.0, 1.0), exclusive=True).share == 0.0


def test_labels_that_are_chance_get_chance_as_answer():
    some, new = draw_texts(300), draw_texts(200)
    drawn = (RANDOM.random((300, 1)) < 0.6).astype(np.float32)
    examples = make_examples(some, drawn)
    plain = fit(examples, exclusive=True, share=0.5, strength=10.0)
    chosen = fit_baseline(examples, exclusive=True)
    asked = hash_ngrams(new, Ngrams()), np.zeros((200, 0), np.float32)
    assert chosen.logits(*asked).std() < 0.4 * plain.logits(*asked).std()
    assert chosen.logits(*asked).mean().sigmoid() == pytest.approx(drawn.mean().item(), abs=0.08)


def test_no_text_is_answered_by_a_regression_that_learned_it():
    # Each text has a word of its own: one that is held out can only be answered by the bias.
    true = torch.tensor([[float(n % 3 == 0)] for n in range(60)])
    features = torch.eye(60)
    for _, logits in _held_out(features, true, exclusive=True):
        for number in range(5):
            own = logits[torch.arange(60) % 5 == number]
            torch.testing.assert_close(own, own[:1].expand_as(own))


def test_of_many_texts_a_sample_decides_and_others_calibrate(monkeypatch):
    texts = draw_texts(400)
    true = [["w1" in text.split() or "w2" in text.split()] for text in texts]
    examples = make_examples(texts, true)
    learned = []

    def watch(given, **settings):
        learned.append(len(given.bags))
        return fit(given, **settings)

    monkeypatch.setattr(selection, "fit", watch)
    monkeypatch.setattr(selection, "MOST", 100)
    found = fit_baseline(examples, exclusive=True)
    assert learned[-1] == 400 and set(learned[:-1]) == {300} and len(learned) <= 5
    logits = found.logits(examples.bags, examples.numbers)
    assert float(((logits > 0) == examples.targets.bool()).float().mean()) > 0.9


def test_many_texts_may_need_a_lower_strength_than_their_sample(monkeypatch):
    texts, true = draw_texts(300, words=7), RANDOM.random((300, 1)) < 0.5
    examples = make_examples(texts, true)
    given = selection.Choice(0.5, 300.0, None)
    monkeypatch.setattr(selection, "MOST", 100)
    assert selection._weaken(examples, given, exclusive=True).strength == 10.0


def test_few_texts_are_neither_cross_validated_nor_calibrated():
    count = selection.FEWEST - 1
    examples = make_examples(draw_texts(count), [[n % 2] for n in range(count)])
    plain = fit(examples, exclusive=True, share=0.5, strength=10.0)
    assert torch.equal(fit_baseline(examples, exclusive=True).weights, plain.weights)


@pytest.mark.slow
@pytest.mark.skipif(not IMDB.is_dir(), reason="../shared/data/imdb is not there")
def test_it_classifies_reviews_as_well_as_the_literature_says():
    def load(name):
        with gzip.open(IMDB / name, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    train, dev = load("train.jsonl.gz"), load("dev.jsonl.gz")
    targets = [[one["label"] == "positive"] for one in train]
    bags = hash_ngrams((one["text"] for one in train), Ngrams(characters=False))
    examples = Examples(bags, np.zeros((len(bags), 0), np.float32), torch.tensor(targets).float())
    found = fit_baseline(examples, exclusive=True)
    asked = hash_ngrams((one["text"] for one in dev), found.ngrams)
    said = found.logits(asked, np.zeros((len(asked), 0), np.float32))[:, 0] > 0
    true = torch.tensor([one["label"] == "positive" for one in dev])
    assert float((said == true).float().mean()) >= 0.905
