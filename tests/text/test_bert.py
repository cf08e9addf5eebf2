"""The kind ``bert``: read, saved and shown like any other, though it is never trained."""

import json
from pathlib import Path

import pytest

from regard.errors import RecipeError, RunError
from regard.recipe.text import TextSettings
from regard.text.bert import CONTINUING, USUAL, Folding
from regard.text.from_recipe import tokenizer_from_recipe
from regard.text.layout import wordpiece_model
from regard.text.special import SPECIAL
from regard.text.tokenizer import Tokenizer

TOKENS = [*SPECIAL, "the", "ship", "##s", "sail", ",", "漢", "é", "e"]
FOLDINGS = [
    Folding(clean, chinese, accents)
    for clean in (True, False)
    for chinese in (True, False)
    for accents in (None, True, False)
]


def made(*, lowercase=True, folding=USUAL):
    model = wordpiece_model(TOKENS, continuing=CONTINUING)
    return Tokenizer("bert", model, lowercase=lowercase, folding=folding)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("folding", FOLDINGS)
def test_saved_and_loaded_it_is_the_same(tmp_path: Path, lowercase, folding):
    tokenizer = made(lowercase=lowercase, folding=folding)
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded == tokenizer and loaded.kind == "bert" and loaded.lowercase is lowercase


def test_every_folding_has_a_fingerprint_of_its_own():
    every = {made(lowercase=low, folding=f).fingerprint for low in (True, False) for f in FOLDINGS}
    assert len(every) == 2 * len(FOLDINGS)


def test_words_tokens_and_text_can_be_shown():
    tokenizer = made()
    ids = tokenizer.encode("The SHIPS, sail")
    assert tokenizer.tokens(ids) == ["▁the", "▁ship", "s", "▁,", "▁sail"]
    assert tokenizer.decode(ids) == "the ships , sail"
    assert [word.text for word in tokenizer.words(ids)] == ["the", "ships", ",", "sail"]
    assert [tokenizer.begins_word[id] for id in ids] == [True, True, False, True, True]


def test_a_word_without_pieces_is_one_unknown_token():
    tokenizer = made()
    ids = tokenizer.encode("the xyz sails")
    assert ids == [7, 1, 10, 9]
    assert tokenizer.decode(ids) == "the sails"
    assert [word.text for word in tokenizer.words(ids)] == ["the", "<unk>", "sails"]


def test_a_text_is_folded_as_it_says():
    assert made().normalize("É漢") == "e 漢 "
    assert made(lowercase=False).normalize("É漢") == "É 漢 "
    assert made(folding=Folding(chinese=False, accents=False)).normalize("É漢") == "é漢"


def test_special_tokens_come_from_no_text():
    assert not set(made().encode(" ".join(SPECIAL))) & ({*range(len(SPECIAL))} - {1})


@pytest.mark.parametrize(
    ("steps", "to", "words"),
    [
        (("normalizer", "strip_accents"), "maybe", "pipeline"),
        (("normalizer", "clean_text"), 1, "pipeline"),
        (("pre_tokenizer", "type"), "Whitespace", "pipeline"),
        (("model", "continuing_subword_prefix"), "@@", "continuing_subword_prefix"),
        (("model", "max_input_chars_per_word"), 10**9, "max_input_chars_per_word"),
        (("model", "vocab", "ship"), 99, "count from 0"),
        (("model", "vocab"), {token: id for id, token in enumerate(TOKENS[1:])}, "special ones"),
        (("model", "vocab"), {token: id for id, token in enumerate([*TOKENS, ""])}, "empty"),
    ],
)
def test_a_file_that_is_not_ours_is_refused(tmp_path: Path, steps, to, words):
    whole = json.loads(made().canonical)
    place = whole
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = to
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    with pytest.raises(RunError) as error:
        Tokenizer.load(tmp_path / "tokenizer.json")
    assert words in error.value.problem


def test_it_is_never_trained():
    with pytest.raises(RecipeError, match="cannot be trained"):
        tokenizer_from_recipe(TextSettings(tokenizer="bert"), ["a text"], seed=1)
