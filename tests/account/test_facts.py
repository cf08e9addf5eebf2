"""What is assumed of texts that nobody has read yet, and what is said of those that were."""

import numpy as np
import pytest

from regard.account.facts import assume_data, describe_lengths, load_of
from regard.ledger.entry import Seq
from regard.ledger.load import Load, Sentences, expected_distinct
from regard.recipe.load import load
from regard.tasks.kinds import task_class


@pytest.mark.parametrize(
    ("name", "sets", "length", "target_length"),
    [
        ("scenes", [], 32, 32),
        ("sentence-pairs", [], 32, 32),
        ("reviews-scratch", [], 256, 256),
        ("reviews-scratch", ['text.overlong="windows"', "text.max_length=101"], 101, 101),
        ("documents-han", ['text.overlong="head"'], 256, 256),
        ("summaries", [], 256, 32),
        ("shakespeare", ["text.max_length=67"], 67, 67),
    ],
)
def test_documents_are_long_and_summaries_short(name, sets, length, target_length):
    recipe = load(name, sets)
    assert task_class(recipe).typical_length(recipe) == length
    assert load_of(recipe).target_length == target_length


def test_a_text_has_as_many_different_tokens_as_zipf_says():
    rng, vocabulary, tokens = np.random.default_rng(0), 997, 211
    shares = 1 / np.arange(1, vocabulary + 1)
    drawn = [
        len(np.unique(rng.choice(vocabulary, tokens, p=shares / shares.sum()))) for _ in range(300)
    ]
    assert expected_distinct(vocabulary, tokens) == pytest.approx(np.mean(drawn), abs=1.5)
    assert expected_distinct(vocabulary, 1) == 1
    step = load_of(load("reviews-language", ["training.batch_tokens=512", "text.max_length=64"]))
    assert step.sampled == expected_distinct(12000, 512)
    assert load_of(load("shakespeare")).sampled == 0


def test_wrong_answers_take_the_place_of_pairs():
    sets = [
        "training.batch_tokens=1000",
        "retrieval.document_length=[7,11]",
        "retrieval.query_length=[2,3]",
    ]
    assert load_of(load("search", sets)) == Load(76, 13, queries=Seq(76, 5))
    pairs = load_of(load("search", [*sets, 'retrieval.pairs=["labelled"]']))
    assert pairs == Load(76, 13, queries=Seq(76, 5))
    wrong = ['retrieval.pairs=["labelled"]', "retrieval.hard_negatives=2"]
    assert load_of(load("search", [*sets, *wrong])) == Load(75, 13, queries=Seq(25, 5))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reviews-scratch", ["lengths as in both: 5 tokens on average"]),
        ("scenes", ["lengths as in both: 5 and 18 tokens on average"]),
        ("search", ["lengths as in both: 1 and 5 tokens on average"]),
        ("shakespeare", []),
    ],
)
def test_every_side_has_its_mean_length_over_all_rows(name, said):
    loads = [Load(7, 3, 19, queries=Seq(7, 1)), Load(3, 11, 17, queries=Seq(3, 2))]
    assert list(describe_lengths(load(name), loads, "both")) == said


def test_a_given_length_is_not_assumed():
    recipe = load("reviews-scratch")
    facts, assumed = assume_data(recipe, None, "it rains")
    assert facts.assumed[-1] == "texts of 256 tokens, since it rains"
    assert assumed == load_of(recipe)
    facts, found = assume_data(recipe, 83, "it rains")
    assert not any("83" in words or "rains" in words for words in facts.assumed)
    assert found == load_of(recipe, 83)
    assert not any(
        "128" in words for words in assume_data(load("shakespeare"), None, "")[0].assumed
    )


def test_a_part_of_a_load_has_some_of_everything():
    sentences = Sentences((Seq(26, 5), Seq(1, 13)), (13, 13, 1))
    whole = Load(13, 29, target_length=31, targets=47, queries=Seq(7, 3), sentences=sentences)
    parts = Sentences((Seq(8, 5), Seq(1, 13)), (4, 4, 1))
    assert whole.split(3) == Load(4, 29, 31, targets=15, queries=Seq(2, 3), sentences=parts)
    assert Load(13, 29).split(3) == Load(4, 29)
    assert sentences.padded == Seq(27, 13)
