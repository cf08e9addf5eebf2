from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.recipe.text import TextSettings
from regard.text.dropout import BpeDropout
from regard.text.from_recipe import dropout_from_recipe, tokenizer_from_recipe
from regard.text.layout import bpe_model, starting_tokens
from regard.text.tokenizer import Tokenizer
from regard.text.train import train_tokenizer

CORPUS = ["Ein Mann schläft im grünen Haus.", "A man doesn't sleep in the green house!"] * 7
text = st.text(st.characters(exclude_categories=["Cs"]))


@cache
def trained(lowercase: bool = False) -> Tokenizer:
    return train_tokenizer(CORPUS, kind="bpe", vocabulary=331, lowercase=lowercase)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def segment(tokenizer, texts, share, generator):
    return BpeDropout(tokenizer, share)(texts, generator)


@pytest.mark.parametrize("lowercase", [False, True])
@given(texts=st.lists(text | st.sampled_from([*CORPUS, "a  b", "Haus" * 30, " Haus", "-" * 99])))
@settings(max_examples=60, deadline=None)
def test_a_share_of_zero_is_plain_encoding(lowercase, texts):
    assert segment(trained(lowercase), texts, 0.0, rng()) == trained(lowercase).encode_batch(texts)


@given(texts=st.lists(text | st.sampled_from(CORPUS)), share=st.floats(0.0, 0.99))
@settings(max_examples=60, deadline=None)
def test_the_pieces_still_spell_the_text(texts, share):
    cut = segment(trained(), texts, share, rng())
    assert trained().decode_batch(cut) == texts


def test_equal_seeds_give_equal_pieces_and_others_do_not():
    dropout = BpeDropout(trained(), 0.3)
    first, again, other = (dropout(CORPUS, rng(seed)) for seed in (7, 7, 11))
    assert first == again != other
    assert BpeDropout(trained(), 0.3)(CORPUS, rng(7)) == first


def test_repeated_texts_are_cut_in_several_ways():
    assert len({tuple(ids) for ids in segment(trained(), ["Haus green"] * 50, 0.3, rng())}) > 5


def test_a_larger_share_gives_more_pieces():
    lengths = [
        sum(map(len, segment(trained(), CORPUS * 10, share, rng())))
        for share in (0.0, 0.1, 0.5, 0.9)
    ]
    assert lengths == sorted(set(lengths))


def test_the_shares_of_each_cut_are_those_of_the_definition():
    # " abc" with merges (Ġ a) and (b c): from [Ġ a b c] either comes first or both are left out.
    tokens = [*starting_tokens("bpe"), "Ġa", "bc"]
    model = bpe_model(tokens, [("Ġ", "a"), ("b", "c")], whole_words=False)
    tokenizer = Tokenizer("bpe", model, lowercase=False)
    share, count = 0.3, 20_000
    cut = segment(tokenizer, ["abc"] * count, share, rng())
    seen = Counter("|".join(tokenizer.tokens(ids)) for ids in cut)
    expected = {
        "▁|a|b|c": share**2,
        "▁a|b|c": (1 - share) * share,
        "▁|a|bc": share * (1 - share) * share,
        "▁a|bc": (1 - share) ** 2 + share * (1 - share) ** 2,
    }
    assert seen.keys() == expected.keys()
    for cut_as, probability in expected.items():
        spread = (probability * (1 - probability) / count) ** 0.5
        assert abs(seen[cut_as] / count - probability) < 4 * spread, cut_as


def test_rows_of_ids_are_cut_anew():
    dropout = BpeDropout(trained(), 0.2)
    rows = trained().encode_batch(CORPUS)
    assert dropout.resegment([[2, *row, 3] for row in rows], rng(5)) == dropout(CORPUS, rng(5))


def test_what_was_learned_about_words_is_bounded(monkeypatch):
    monkeypatch.setattr("regard.text.dropout._MOST_NODES", 13)
    dropout = BpeDropout(trained(), 0.2)
    assert trained().decode_batch(dropout(CORPUS, rng())) == CORPUS
    assert len(dropout._nodes) < 200


def test_kinds_without_merges_and_wrong_shares_are_refused():
    words = train_tokenizer(CORPUS, kind="words", vocabulary=300)
    with pytest.raises(ValueError, match="words has none"):
        BpeDropout(words, 0.1)
    with pytest.raises(ValueError, match=r"Got 1\.0"):
        BpeDropout(trained(), 1.0)
    with pytest.raises(DataError, match="surrogate"):
        BpeDropout(trained(), 0.1)(["\udc00"], rng())


def test_a_recipe_becomes_a_tokenizer_and_its_dropout():
    settings = TextSettings(tokenizer="bpe", vocabulary=331, dropout=0.1)
    tokenizer = tokenizer_from_recipe(settings, CORPUS, seed=0)
    assert tokenizer == trained()
    dropout = dropout_from_recipe(settings, tokenizer)
    assert dropout is not None and dropout(CORPUS, rng(1)) == segment(
        tokenizer, CORPUS, 0.1, rng(1)
    )
    assert dropout_from_recipe(TextSettings(), tokenizer) is None
