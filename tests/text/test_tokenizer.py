import json
from pathlib import Path

import pytest

from regard.errors import RunError
from regard.text.layout import (
    BYTES,
    bpe_model,
    build_tokenizer_json,
    starting_tokens,
    wordpiece_model,
)
from regard.text.special import BEGIN, CLS, END, MASK, PAD, SEP, SPECIAL, UNKNOWN
from regard.text.tokenizer import Tokenizer
from regard.text.train import train_tokenizer

SMALL = [*starting_tokens("bpe"), "Ġa", "Ġab"]
MERGES = [("Ġ", "a"), ("Ġa", "b")]


def small() -> dict:
    return build_tokenizer_json(
        "bpe", lowercase=False, model=bpe_model(SMALL, MERGES, whole_words=False)
    )


def written(found: object, path: Path) -> Path:
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_the_special_tokens_have_the_ids_models_rely_on():
    assert (PAD, UNKNOWN, BEGIN, END, CLS, SEP, MASK) == (0, 1, 2, 3, 4, 5, 6)
    assert SPECIAL[PAD] == "<pad>" and SPECIAL[END] == "</s>" and SPECIAL[MASK] == "[MASK]"


def test_bytes_are_spelled_as_the_library_spells_them():
    from tokenizers.pre_tokenizers import ByteLevel

    assert sorted(BYTES) == sorted(ByteLevel.alphabet())
    assert BYTES[ord(" ")] == "Ġ" and BYTES[ord("a")] == "a"


def test_bpe_makes_the_merges_of_its_file():
    tokenizer = Tokenizer("bpe", bpe_model(SMALL, MERGES, whole_words=False), lowercase=False)
    assert tokenizer.tokens(tokenizer.encode("ab ac")) == ["▁ab", "▁a", "c"]
    assert tokenizer.size == len(tokenizer) == len(SMALL)


def test_whole_words_are_looked_up_and_others_spelled():
    model = bpe_model([*starting_tokens("words"), "Ġab"], [], whole_words=True)
    tokenizer = Tokenizer("words", model, lowercase=False)
    assert tokenizer.tokens(tokenizer.encode("ab abc")) == ["▁ab", "▁", "a", "b", "c"]


def test_wordpiece_takes_the_longest_token_first():
    tokens = [*starting_tokens("wordpiece"), "Ġa", "Ġab", "‿cd"]
    tokenizer = Tokenizer("wordpiece", wordpiece_model(tokens), lowercase=False)
    assert tokenizer.tokens(tokenizer.encode("abcd")) == ["▁ab", "cd"]


def test_a_byte_that_is_no_character_is_shown_as_its_number():
    tokenizer = Tokenizer("bpe", bpe_model(SMALL, MERGES, whole_words=False), lowercase=False)
    assert tokenizer.tokens(tokenizer.encode("ü")) == ["▁", "<C3>", "<BC>"]
    assert tokenizer.decode(tokenizer.encode("ü")[:2]) == "�"


def test_an_id_beyond_the_vocabulary_is_an_error():
    tokenizer = Tokenizer("bpe", bpe_model(SMALL, MERGES, whole_words=False), lowercase=False)
    with pytest.raises(IndexError):
        tokenizer.decode([tokenizer.size])


def test_the_small_file_itself_loads(tmp_path):
    assert Tokenizer.load(written(small(), tmp_path / "tokenizer.json")).size == len(SMALL)


def _change(path: str, value: object):
    def changed(found: dict) -> dict:
        *inner, last = path.split("/")
        part = found
        for key in inner:
            part = part[int(key) if isinstance(part, list) else key]
        part[int(last) if isinstance(part, list) else last] = value
        return found

    return changed


REGEX = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
HOSTILE = {
    "a regular expression": _change("pre_tokenizer/pretokenizers/0", REGEX),
    "another normalizer": _change("normalizer/normalizers/0", {"type": "NFKC"}),
    "a post-processor": _change("post_processor", {"type": "ByteLevel"}),
    "truncation": _change("truncation", {"max_length": 1}),
    "an extra key": _change("surprise", 1),
    "an extra key in the model": _change("model/surprise", 1),
    "no vocabulary": _change("model/vocab", None),
    "a hole in the ids": _change("model/vocab/Ġab", 9999),
    "a negative id": _change("model/vocab/Ġab", -1),
    "an id that is true": _change("model/vocab/Ġab", True),
    "an id that is no number": _change("model/vocab/Ġab", "7"),
    "dropout": _change("model/dropout", 0.5),
    "a merge of nothing": _change("model/merges/0", []),
    "a merge of strangers": _change("model/merges/0", ["x", "y"]),
    "a merge of special tokens": _change("model/merges/0", ["<s>", "</s>"]),
    "a merge of numbers": _change("model/merges/0", [1, 2]),
    "merges that are a table": _change("model/merges", {}),
    "a model that is a list": _change("model", []),
    "an unknown model": _change("model/type", "Regex"),
    "whole words with merges": _change("model/ignore_merges", True),
    "special tokens elsewhere": _change("added_tokens/0/id", 5),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused_in_two_lines(change, tmp_path):
    path = written(change(small()), tmp_path / "tokenizer.json")
    with pytest.raises(RunError) as refusal:
        Tokenizer.load(path)
    assert str(path) in refusal.value.problem and "\n" not in refusal.value.problem


@pytest.mark.parametrize(
    "tokens",
    [
        [*SMALL[1:], "<pad>"],
        [token for token in SMALL if token != BYTES[200]],
        [*SMALL, "漢"],
        [*SMALL, ""],
    ],
    ids=["no special start", "a byte missing", "not spelled in bytes", "an empty token"],
)
def test_a_vocabulary_that_breaks_a_promise_is_refused(tokens, tmp_path):
    model = bpe_model(tokens, [], whole_words=False)
    found = build_tokenizer_json("bpe", lowercase=False, model=model)
    with pytest.raises(RunError):
        Tokenizer.load(written(found, tmp_path / "tokenizer.json"))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 1e300, "0", None, True])
def test_a_score_that_is_no_number_is_refused(score, tmp_path):
    tokenizer = train_tokenizer(["Haus und Hof"] * 3, kind="unigram", vocabulary=300)
    found = json.loads(tokenizer.canonical)
    found["model"]["vocab"][-1][1] = score
    with pytest.raises(RunError):
        Tokenizer.load(written(found, tmp_path / "tokenizer.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"model": {"type": "BPE"}}',
        b"1e999",
    ],
)
def test_what_is_no_tokenizer_at_all_is_refused(content, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(RunError):
        Tokenizer.load(path)


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(RunError, match="no tokenizer"):
        Tokenizer.load(tmp_path / "tokenizer.json")
    with pytest.raises(RunError, match="cannot be read"):
        Tokenizer.load(tmp_path)


def test_a_key_given_twice_cannot_smuggle_anything_in(tmp_path):
    path = tmp_path / "tokenizer.json"
    twice = json.dumps(small()).replace(
        '"post_processor": null', '"post_processor": {"type": "ByteLevel"}, "post_processor": null'
    )
    path.write_text(twice, encoding="utf-8")
    assert (
        Tokenizer.load(path).canonical
        == Tokenizer("bpe", small()["model"], lowercase=False).canonical
    )
