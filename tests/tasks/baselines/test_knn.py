"""The memory of labelled texts: the equation, what is kept, and how it joins an answer."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import RecipeError
from regard.recipe.decoding import DecodingSettings
from regard.recipe.load import make
from regard.tasks.baselines.ensemble import Ensemble
from regard.tasks.baselines.hashed_ngrams import bags, counted
from regard.tasks.baselines.knn import Neighbours
from regard.tasks.baselines.labels import remember
from regard.tasks.labelling.labels import OneLabel, SeveralLabels

WORDS = [chr(ord("b") + n) * 2 for n in range(13)]
texts_of_words = st.lists(st.sampled_from(WORDS), max_size=11).map(" ".join)

FILMS = [
    ("Alien is slow and cold", "bad"),
    ("I saw Alien and I slept", "bad"),
    ("Brazil made me laugh", "good"),
    ("Brazil and its pipes", "good"),
    ("nothing to say", "good"),
]


def by_hand(texts, votes, asked, nearest=10):
    """Do what the module's docstring says, one pair of texts at a time."""
    having = Counter(word for text in texts for word in set(text.split()))

    def weights(text):
        counts = Counter(word for word in text.split() if word in having)
        own = {
            word: (1 + math.log(count)) * math.log(len(texts) / having[word])
            for word, count in counts.items()
        }
        long = math.sqrt(sum(weight**2 for weight in own.values()))
        return {word: weight / long for word, weight in own.items()} if long else {}

    def likeness(one, others):
        mine = weights(one)
        return [sum(mine.get(w, 0) * value for w, value in weights(e).items()) for e in others]

    def mean(highest):
        return sum(highest) / len(highest)

    like = likeness(asked, texts)
    usual = []
    for n, text in enumerate(texts):
        others = [0.0 if n == m else one for m, one in enumerate(likeness(text, texts))]
        usual.append(mean(sorted(others, reverse=True)[:nearest]))
    least = mean(usual) / 4 or 1.0
    own = max(least, mean(sorted(like, reverse=True)[:nearest]))
    near = [one / math.sqrt(own * max(least, usual[n])) for n, one in enumerate(like)]
    best = sorted(near, reverse=True)[:nearest]
    kept = [n for n, one in enumerate(near) if one >= best[-1]]
    total = sum(near[n] ** 3 for n in kept) + 5
    return [sum(near[n] ** 3 * votes[n][column] for n in kept) / total for column in range(2)]


@given(st.lists(texts_of_words, min_size=1, max_size=7), texts_of_words)
@settings(max_examples=60, deadline=None)
def test_the_nearest_say_what_the_equation_says(texts, asked):
    votes = [[float(n % 3 == 0), float(n % 3 != 0)] for n in range(len(texts))]
    said, _ = Neighbours.of(texts, torch.tensor(votes)).ask([asked])
    torch.testing.assert_close(said[0].tolist(), by_hand(texts, votes, asked), atol=1e-5, rtol=0)


def test_only_ten_are_asked_and_the_nearest_comes_first():
    texts = [f"rare word{n}" + " word0" * (n == 5) for n in range(17)] + ["other"] * 20
    memory = Neighbours.of(texts, torch.ones(37, 1))
    _, (looked,) = memory.ask(["rare word0"])
    assert len(looked) == 10
    assert looked[0].example == 1 and looked[1].example == 6
    near = [one.near for one in looked]
    assert near == sorted(near, reverse=True) and near[0] > near[1] > near[2]


def test_a_text_that_is_like_many_is_not_everybodys_neighbour():
    # A list of names is a little like every text; who names one film only is nearer to its kind.
    names = [f"film{n}" for n in range(11)]
    texts = [f"{name} word{n}x{m}" for m in range(3) for n, name in enumerate(names)]
    memory = Neighbours.of([*texts, " ".join(names)], torch.ones(len(texts) + 1, 1))
    (text,) = memory._weighted(*counted(["film4 film7"])).each(1)
    like = memory.likeness.of(*text)
    assert int(like.argmax()) == len(texts)  # by words alone the list comes first
    _, (looked,) = memory.ask(["film4 film7"])
    own = [1 + n for n, one in enumerate(texts) if one.split()[0] in ("film4", "film7")]
    last = [one.near for one in looked if one.example == len(texts) + 1]
    assert sorted(one.example for one in looked)[: len(own)] == own
    assert (
        last[0] / max(one.near for one in looked if one.example in own)
        < like[-1] / like[own[0] - 1]
    )


def test_of_very_many_texts_some_say_what_is_usual(monkeypatch):
    texts = [f"film{n % 13} actor{n % 7} word{n}" for n in range(401)]
    votes = torch.ones(401, 1)
    whole = Neighbours.of(texts, votes)
    monkeypatch.setattr("regard.tasks.baselines.knn.COMPARED", 100)
    some = Neighbours.of(texts, votes)
    assert not np.array_equal(whole.usual, some.usual)
    assert np.abs(whole.usual - some.usual).max() < 0.35 * whole.usual.mean()
    # No text counts itself among those it is like: then one of them would be like nobody else.
    assert some.usual.max() < 0.9 and whole.usual.max() < 0.9


@pytest.mark.parametrize("asked", ["", "zebra", "!!!"])
def test_a_text_that_shares_no_word_hears_nothing(asked):
    said, looked = Neighbours.of(["one two", "three"], torch.ones(2, 3)).ask([asked, "one"])
    assert said[0].tolist() == [0, 0, 0] and looked[0] == []
    assert said[1].sum() > 0 and [one.example for one in looked[1]] == [1]


def test_a_word_of_more_than_a_tenth_of_many_texts_is_no_reason():
    texts = [f"{'the' if n % 3 else 'a'} word{n}" for n in range(1009)]
    _, looked = Neighbours.of(texts, torch.ones(1009, 1)).ask(["the word7", "the"])
    assert [one.example for one in looked[0]] == [8] and looked[1] == []


def test_what_is_kept_says_the_same_again():
    memory = Neighbours.of([text for text, _ in FILMS], torch.eye(5))
    again = Neighbours.load(memory.parameters())
    asked = ["Alien and Brazil", "pipes pipes"]
    first, second = memory.ask(asked), again.ask(asked)
    assert torch.equal(first[0], second[0]) and first[1] == second[1]


def test_a_run_of_before_finds_out_what_is_usual():
    memory = Neighbours.of([text for text, _ in FILMS], torch.eye(5))
    kept = memory.parameters()
    del kept["usual"]
    assert Neighbours.load(kept).ask(["Alien"])[1] == memory.ask(["Alien"])[1]


def test_words_are_counted_text_by_text():
    found, counts = counted(["a b a A", "", "b !! b"])
    assert found.offsets.tolist() == [0, 2, 2, 4]
    single = {word: int(bags([word]).rows[0]) for word in ("a", "b", "!!")}
    first = dict(zip(found.rows[:2].tolist(), counts[:2].tolist(), strict=True))
    last = dict(zip(found.rows[2:].tolist(), counts[2:].tolist(), strict=True))
    assert first == {single["a"]: 3, single["b"]: 1}
    assert last == {single["b"]: 2, single["!!"]: 1}


def test_every_nth_example_keeps_its_own_number(monkeypatch):
    monkeypatch.setattr("regard.tasks.baselines.labels.MOST_CHARACTERS", 60)
    kept = remember(OneLabel(["bad", "good"]), lambda: iter(FILMS))
    assert kept["examples"].tolist() == [0, 2, 4]
    assert kept["votes"].tolist() == [[1, 0], [0, 1], [0, 1]]


def test_labels_that_stand_alone_are_voted_down_as_well_as_up():
    several = [("alien", "a|b"), ("brazil", "b")]
    kept = remember(SeveralLabels(["a", "b"], "|"), lambda: iter(several))
    assert kept["votes"].tolist() == [[1, 1], [-1, 1]]


def beside(**decoding):
    labels = OneLabel(["bad", "good"])
    made = Ensemble(
        labels,
        DecodingSettings(**decoding),
        lambda texts: (bags(text for (text,) in texts), None),
        trust=5.0,
    )
    made.put(made.learn(lambda: iter(FILMS)))
    return made


def test_answers_are_shares_of_network_and_bag_and_what_neighbours_add():
    network, asked = torch.tensor([[0.3, -0.7]]), [("Alien again",)]
    plain, joined = beside(baseline_weight=0.25), beside(baseline_weight=0.25, neighbours=3.0)
    without, all_three = plain.join(network, asked), joined.join(network, asked)
    assert without.heard is None and without.looked == [[]]
    torch.testing.assert_close(without.all, 0.75 * network + 0.25 * without.bag)
    torch.testing.assert_close(all_three.all, without.all + all_three.heard)
    torch.testing.assert_close(all_three.together, (network + without.bag) / 2 + all_three.heard)
    said, _ = joined.memory.ask(["Alien again"])
    torch.testing.assert_close(all_three.heard, 3.0 * said)
    assert all_three.heard[0, 0] > 0.5 and all_three.heard[0, 1] == 0


def test_texts_are_kept_only_where_they_are_asked():
    source = lambda: iter(FILMS)  # noqa: E731
    assert not any("neighbours" in name for name in beside().learn(source))
    assert any("neighbours" in name for name in beside(neighbours=1.0).learn(source))


def test_who_was_looked_at_is_told_with_number_and_label():
    joined = beside(neighbours=2.0)
    (looked,) = joined.join(torch.zeros(1, 2), [("Brazil has pipes",)]).looked
    shown = joined.shown(looked)
    assert [(one["example"], one["label"]) for one in shown] == [(4, "good"), (3, "good")]
    assert shown[0]["near"] > shown[1]["near"] > 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"task": "translation", "data": {"train": ["a.tsv"]}}, "classification"),
        ({"task": "sentence-pair", "data": {"train": ["a.tsv"]}}, "classification"),
        (
            {"task": "classification", "data": {"train": ["a.jsonl"], "scores": True}},
            "a score is no label",
        ),
    ],
)
def test_neighbours_are_for_labels_of_single_texts(settings, told):
    with pytest.raises(RecipeError, match=told):
        make({**settings, "decoding": {"neighbours": 2.0}})
