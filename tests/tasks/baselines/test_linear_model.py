"""The linear model: its tf-idf against scikit-learn's, what it stores, what it learns."""

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer

from regard.tasks.baselines import linear_model
from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, Ngrams, hash_ngrams
from regard.tasks.baselines.linear_model import (
    Examples,
    LinearModel,
    count_documents,
    fit,
    mix,
    vectorize,
)

RANDOM = np.random.default_rng(7)


def make_examples(texts, labels, ngrams=Ngrams()):  # noqa: B008
    bags = hash_ngrams(texts, ngrams)
    return Examples(
        bags, np.zeros((len(bags), 0), np.float32), torch.tensor(labels)[:, None].float()
    )


def draw_texts(count, seed):
    """Draw texts whose label only a pair of words tells: "not" turns the next word around."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        good, turned = rng.integers(2), rng.integers(2)
        noise = [f"w{n}" for n in rng.integers(0, 50, size=6)]
        texts.append(" ".join([*noise, *["not"] * turned, "good" if good else "bad"]))
        labels.append(int(good != turned))
    return texts, labels


def ask(model, texts):
    bags = hash_ngrams(texts, model.ngrams)
    return model.logits(bags, np.zeros((len(texts), 0), np.float32))[:, 0]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_products_of_texts_are_those_of_scikit_learns_tf_idf(share):
    texts = [" ".join(RANDOM.choice(["ab", "cd", "ef", "ab"], size=9)) for _ in range(13)]
    settings = {"sublinear_tf": True, "smooth_idf": True}
    words = TfidfVectorizer(ngram_range=(1, 2), **settings).fit_transform(texts)
    spelled = TfidfVectorizer(ngram_range=(2, 5), analyzer="char_wb", **settings)
    characters = spelled.fit_transform(texts)
    bags = hash_ngrams(texts, Ngrams())
    rows, idf = count_documents(bags)
    vectors = mix(vectorize(bags, rows, idf), int(np.searchsorted(rows, CHARACTER_ROW)), share)
    ours = np.zeros((len(texts), len(rows)))
    for text in range(len(texts)):
        part = slice(vectors.offsets[text], vectors.offsets[text + 1])
        ours[text, vectors.rows[part]] = vectors.values[part]
    theirs = (1 - share) * (words @ words.T) + share * (characters @ characters.T)
    np.testing.assert_allclose(ours @ ours.T, theirs.toarray(), atol=1e-6)


def test_it_learns_what_only_pairs_of_words_tell_and_stores_it():
    texts, labels = draw_texts(307, 1)
    examples = make_examples(texts, labels)
    found = fit(examples, exclusive=True, share=0.3, strength=30.0)
    new, true = draw_texts(101, 2)
    logits = ask(found, new)
    assert float(((logits > 0) == torch.tensor(true).bool()).float().mean()) > 0.9
    stored = LinearModel.load({name: t.clone() for name, t in found.parameters().items()})
    torch.testing.assert_close(ask(stored, new), logits, rtol=1e-2, atol=1e-2)
    again = fit(examples, exclusive=True, share=0.3, strength=30.0)
    assert torch.equal(again.weights, found.weights)


def test_an_answer_is_the_sum_of_what_its_ngrams_contribute():
    texts, labels = draw_texts(53, 1)
    model = fit(make_examples(texts, labels), exclusive=True, share=0.5, strength=10.0)
    bags = hash_ngrams(["w1 not good"], model.ngrams)
    boundary = int((model.rows < CHARACTER_ROW).sum())
    vectors = mix(vectorize(bags, model.rows.numpy(), model.idf.numpy()), boundary, 0.5)
    contributions = torch.from_numpy(vectors.values) * model.weights[vectors.rows, 0]
    expected = float(contributions.sum() + model.biases[0])
    assert float(ask(model, ["w1 not good"])) == pytest.approx(expected, rel=1e-4)


def test_unknown_and_empty_texts_get_the_bias():
    texts, labels = draw_texts(53, 1)
    found = fit(make_examples(texts, labels), exclusive=True, share=0.5, strength=1.0)
    assert ask(found, ["", "ü%ü"]).tolist() == pytest.approx([float(found.biases[0])] * 2)


def test_texts_of_words_alone_need_no_characters():
    texts, labels = draw_texts(53, 1)
    found = fit(make_examples(texts, labels), exclusive=True, share=0.0, strength=1.0)
    assert found.ngrams == Ngrams(2, False)
    every = hash_ngrams(texts, Ngrams())
    torch.testing.assert_close(
        ask(found, texts), found.logits(every, np.zeros((53, 0), np.float32))[:, 0]
    )


def test_it_keeps_the_most_frequent_features_where_there_are_too_many(monkeypatch):
    texts, _ = draw_texts(53, 1)
    bags = hash_ngrams(texts, Ngrams(2, False))
    every = count_documents(bags)
    monkeypatch.setattr(linear_model, "FEW", 0)
    for one, other in zip(every, count_documents(bags), strict=True):
        assert one.tolist() == other.tolist()
    monkeypatch.setattr(linear_model, "MOST_FEATURES", 11)
    rows, idf = count_documents(bags)
    assert 0 < len(rows) <= 11 and idf.max() < every[1].max()
    good = hash_ngrams(["good"], Ngrams(1, False)).rows.tolist()
    assert set(good) <= set(rows.tolist())


def test_three_words_are_counted_again_where_they_were_learned_from():
    texts, labels = draw_texts(53, 1)
    examples = make_examples(texts, labels, Ngrams(3, False))._replace(longest=3)
    found = LinearModel.load(fit(examples, exclusive=True, share=0.0, strength=1.0).parameters())
    assert found.ngrams == Ngrams(3, False)


def test_runs_before_0_1_stored_presence_of_up_to_three_words():
    bags = hash_ngrams(["a a b"], Ngrams(3, False))
    rows = np.sort(bags.rows)
    old = LinearModel.load(
        {
            "rows": torch.from_numpy(rows),
            "weights": torch.arange(1.0, len(rows) + 1)[:, None].half(),
            "numbers": torch.zeros(0, 1),
            "biases": torch.tensor([0.25]),
            "scale": torch.zeros(2, 0),
        }
    )
    assert old.ngrams == Ngrams(3, False)
    total = len(rows) * (len(rows) + 1) / 2
    assert float(ask(old, ["a a b"])) == pytest.approx(total / len(rows) ** 0.5 + 0.25)
