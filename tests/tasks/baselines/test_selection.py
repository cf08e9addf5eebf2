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
    Design,
    Examples,
    find_scale,
    find_vocabulary,
    fit,
    mix,
    standardize,
    vectorize,
)
from regard.tasks.baselines.logistic_regression import Matrix, fit_logistic
from regard.tasks.baselines.selection import (
    Choice,
    Member,
    _features,
    _held_out,
    _held_out_bayes,
    _refine,
    average,
    choose,
    fit_baseline,
    select,
)

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
    rows, idf = find_vocabulary(examples)
    boundary = int(np.searchsorted(rows, CHARACTER_ROW))
    vectors = mix(vectorize(examples.bags, rows, idf), boundary, 0.3).select(some)
    further = standardize(numbers, find_scale(numbers))[some]
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
    examples = make_examples(texts, true[:, None])
    assert choose(examples, np.arange(200), (0.0, 1.0), exclusive=True).share == 1.0


def test_words_are_chosen_where_their_order_tells_the_label():
    true = RANDOM.integers(2, size=200)
    texts = ["one two" if label else "two one" for label in true]
    examples = make_examples(texts, true[:, None])
    assert choose(examples, np.arange(200), (0.0, 1.0), exclusive=True).share == 0.0


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


def test_ratios_of_held_out_texts_are_counted_without_them(monkeypatch):
    # With the ratios of all texts, words that occur in one text alone would give its label away.
    true = RANDOM.integers(2, size=(100, 1))
    texts = [" ".join(f"w{n}of{text}" for n in range(5)) for text in range(100)]
    design = Design(make_examples(texts, true), 0.0)
    for _, logits in _held_out_bayes(design, exclusive=True):
        for number in range(5):
            own = logits[torch.arange(100) % 5 == number]
            torch.testing.assert_close(own, own[:1].expand_as(own))


def test_of_many_texts_a_sample_decides_and_others_calibrate(monkeypatch):
    texts = draw_texts(400)
    true = [["w1" in text.split() or "w2" in text.split()] for text in texts]
    examples = make_examples(texts, true)
    learned = []

    def watch(given, share):
        learned.append(len(given.bags))
        return Design(given, share)

    monkeypatch.setattr(selection, "Design", watch)
    monkeypatch.setattr(selection, "MOST", 100)
    monkeypatch.setattr(selection, "MANY", 200)
    found = fit_baseline(examples, exclusive=True)
    assert learned == [300, 400]
    logits = found.logits(examples.bags, examples.numbers)
    assert float(((logits > 0) == examples.targets.bool()).float().mean()) > 0.9


@pytest.mark.parametrize("bayes", [False, True])
def test_many_texts_may_need_another_strength_than_their_sample(bayes):
    texts, true = draw_texts(300, words=7), RANDOM.random((300, 1)) < 0.5
    some, examples = np.arange(100), make_examples(texts, true)

    def refine(strength):
        member = Member(bayes, strength, None, None)
        return _refine(examples, some, Choice(0.5, [member]), exclusive=True).members[0]

    assert refine(300.0).strength < 100 and refine(300.0).bayes == bayes
    copies = make_examples([*texts[:100], *texts[:100]], np.concatenate([true[:100], true[:100]]))
    again = _refine(
        copies, some, Choice(0.5, [Member(bayes, 1.0, None, None)]), exclusive=True
    ).members[0]
    assert again.strength > 1


def test_the_answer_is_one_member_or_the_mean_of_both():
    targets = torch.tensor([[1.0], [1.0], [0.0], [0.0]])
    right, wrong = (
        Member(False, 1.0, None, 8 * targets - 4),
        Member(True, 1.0, None, 4 - 8 * targets),
    )
    assert select([right, wrong], targets, exclusive=True) == [right]
    halves = [
        right._replace(logits=right.logits * torch.tensor([[1.5], [-0.5], [1.5], [-0.5]])),
        right._replace(logits=right.logits * torch.tensor([[-0.5], [1.5], [-0.5], [1.5]])),
    ]
    assert select(halves, targets, exclusive=True) == halves
    examples = make_examples(draw_texts(50), RANDOM.integers(2, size=(50, 1)))
    one, other = (
        fit(examples, exclusive=True, share=0.5, strength=3.0, bayes=bayes)
        for bayes in (False, True)
    )
    asked = examples.bags, examples.numbers
    mean = (one.logits(*asked) + other.logits(*asked)) / 2
    torch.testing.assert_close(average([one, other]).logits(*asked), mean)
    assert not torch.allclose(one.logits(*asked), other.logits(*asked), atol=0.1)


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
    bags = hash_ngrams((one["text"] for one in train), Ngrams(3, False))
    numbers = np.zeros((len(bags), 0), np.float32)
    examples = Examples(bags, numbers, torch.tensor(targets).float(), longest=3)
    found = fit_baseline(examples, exclusive=True)
    asked = hash_ngrams((one["text"] for one in dev), found.ngrams)
    said = found.logits(asked, np.zeros((len(asked), 0), np.float32))[:, 0] > 0
    true = torch.tensor([one["label"] == "positive" for one in dev])
    assert float((said == true).float().mean()) >= 0.905
