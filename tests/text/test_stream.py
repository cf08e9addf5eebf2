"""Decoding token by token gives the text that decoding at once gives, in valid pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.layout import KINDS
from regard.text.special import SPECIAL
from regard.text.train import train_tokenizer

TEXTS = ["a really fine film", "ein größerer Hund, naïve Fragen", "日本語 und 🙂"] * 3
TOKENIZERS = {kind: train_tokenizer(TEXTS, kind=kind, vocabulary=600) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_the_pieces_are_the_text(kind, data):
    tokenizer = TOKENIZERS[kind]
    ids = data.draw(st.lists(st.integers(0, tokenizer.size - 1), max_size=23))
    stream = tokenizer.stream()
    pieces = [*map(stream.add, ids), stream.end()]
    assert "".join(pieces) == tokenizer.decode(ids)


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=17))
def test_a_valid_text_has_only_valid_pieces(kind, text):
    tokenizer = TOKENIZERS[kind]
    stream, grown = tokenizer.stream(), ""
    for id in tokenizer.encode(text):
        grown += stream.add(id)
        assert text.startswith(grown)
    assert grown == text and stream.end() == ""


def test_a_character_is_held_back_until_it_is_complete():
    tokenizer = TOKENIZERS["characters"]
    ids = tokenizer.encode("ł")
    assert len(ids) == 2, "it must be spelled in bytes"
    stream = tokenizer.stream()
    assert [stream.add(ids[0]), stream.add(ids[1])] == ["", "ł"]
    cut = tokenizer.stream()
    assert (cut.add(ids[0]), cut.end()) == ("", "\ufffd")


def test_tokens_are_spelled_as_they_would_come_next():
    tokenizer = TOKENIZERS["bpe"]
    (word,), (first, _) = tokenizer.encode("fine"), tokenizer.encode("ł")[-2:]
    stream = tokenizer.stream()
    assert stream.spell(word) == "fine"
    stream.add(word)
    assert stream.spell(word) == " fine"
    assert stream.spell(first) == "bytes:\\xc5"
    assert [stream.spell(id) for id in range(7)] == list(SPECIAL)
