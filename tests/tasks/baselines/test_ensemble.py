"""The ensemble: shares of networks and baseline, its fit, and what older runs stored with it."""

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.recipe.decoding import DecodingSettings
from regard.tasks.baselines.ensemble import Ensemble
from regard.tasks.baselines.hashed_ngrams import hash_ngrams
from regard.tasks.baselines.labels import learn
from regard.tasks.labelling.labels import OneLabel

LABELS = OneLabel(["bad", "good"])
FILMS = [
    ("Alien is slow and cold", "bad"),
    ("I saw Alien and I slept", "bad"),
    ("Brazil made me laugh", "good"),
    ("Brazil and its pipes", "good"),
    ("nothing to say", "good"),
    ("nothing to see", "bad"),
]
NETWORK, ASKED = torch.tensor([[0.3, -0.7]]), [("Alien again",)]


def extract(texts, ngrams):
    bags = hash_ngrams((text for (text,) in texts), ngrams)
    return bags, np.zeros((len(bags), 0), np.float32)


def make_ensemble(**decoding):
    return Ensemble(LABELS, DecodingSettings(**decoding), extract)


def learned(**decoding):
    made = make_ensemble(**decoding)
    made.put(made.learn(lambda: iter(FILMS)))
    return made


def test_answers_are_shares_of_network_and_bag():
    found = learned(baseline_weight=0.25).join(NETWORK, ASKED)
    assert found.bag[0, 0] > found.bag[0, 1]
    torch.testing.assert_close(found.all, 0.75 * NETWORK + 0.25 * found.bag)
    torch.testing.assert_close(found.together, (NETWORK + found.bag) / 2)


def test_without_a_share_the_network_answers_alone():
    plain, bare = learned().join(NETWORK, ASKED), make_ensemble().join(NETWORK, ASKED)
    assert plain.all.equal(NETWORK) and plain.bag is not None
    assert bare.all.equal(NETWORK) and bare.bag is None and bare.together is None
    assert learned().voices(NETWORK, plain) == {}


def test_networks_have_equal_shares():
    made, other = learned(baseline_weight=0.5), torch.tensor([[2.0, 1.0]])
    made.ask_also(lambda texts: other, LABELS)
    found = made.join(NETWORK, ASKED)
    torch.testing.assert_close(found.network, (NETWORK + other) / 2)
    torch.testing.assert_close(found.all, found.together)
    voices = made.voices(NETWORK, found)
    assert voices["network"].equal(NETWORK) and voices["networks"].equal(found.network)
    with pytest.raises(UsageError, match="the same labels"):
        made.ask_also(lambda texts: other, OneLabel(["bad", "best"]))


def test_what_older_runs_kept_of_labelled_texts_is_passed_over():
    made = make_ensemble(baseline_weight=0.5)
    kept = made.learn(lambda: iter(FILMS))
    assert not any(name.startswith("neighbours.") for name in kept)
    made.put({**kept, "neighbours.rows": torch.arange(3), "neighbours.votes": torch.ones(3, 2)})
    assert made.join(NETWORK, ASKED).all.equal(
        learned(baseline_weight=0.5).join(NETWORK, ASKED).all
    )


def test_of_too_many_texts_every_nth_is_learned_from(monkeypatch):
    some = learn(LABELS, lambda: iter(FILMS[::2]), extract)
    monkeypatch.setattr("regard.tasks.baselines.labels.MOST_CHARACTERS", 80)
    thinned = learn(LABELS, lambda: iter(FILMS), extract)
    assert some.keys() == thinned.keys()
    assert all(some[name].equal(thinned[name]) for name in some)


def test_the_share_is_fitted_only_where_the_recipe_says_so():
    texts, written = [film[:1] for film in FILMS], [film[1] for film in FILMS]
    sure = torch.tensor([[9.0, 0.0] if label == "bad" else [0.0, 9.0] for label in written])
    fixed = learned(baseline_weight=0.5)
    assert fixed.fit(sure, texts, written) == {} and fixed.fitted is None
    made = learned(baseline_weight="fitted")
    assert made.join(sure, texts).all.equal(sure)
    stored = made.fit(sure, texts, written)
    assert made.fitted.texts == len(FILMS)
    again = make_ensemble(baseline_weight="fitted")
    again.put({**made.learn(lambda: iter(FILMS)), **stored})
    torch.testing.assert_close(again.join(sure, texts).all, made.join(sure, texts).all)
    assert "network" in made.voices(sure, made.join(sure, texts))
