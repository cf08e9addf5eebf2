"""Every kind of tokenizer keeps the same promises."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError, RunError
from regard.text.layout import KINDS, starting_tokens
from regard.text.special import SPECIAL
from regard.text.tokenizer import Tokenizer
from regard.text.train import train_tokenizer

CORPUS = [
    "Ein Mann schläft im grünen Haus.",
    "Eine Frau liest ein Buch, und zwei Kinder spielen Fußball.",
    "A man doesn't sleep in the green house.",
    "Two children are playing soccer: 11 against 7!",
] * 5
MEAN = [
    "",
    " ",
    "  doppelt  ",
    "\n\t\r\n",
    "</s><pad>[CLS] [MASK]<unk><s>",
    "‿## ▁Ġ Ã¼",
    "\u2028\x85\x1c\x00\ufeff",
    "漢字🤗👩‍👩‍👧e\u0301",
    "x" * 1000 + " " * 500,
    "<0x41>",
]


@functools.cache
def trained(kind: str, lowercase: bool = False) -> Tokenizer:
    return train_tokenizer(CORPUS, kind=kind, vocabulary=601, lowercase=lowercase)


every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=150, deadline=None)
def test_any_text_comes_back_exactly(kind, text):
    tokenizer = trained(kind)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(len(SPECIAL) <= id < tokenizer.size for id in ids)


@every_kind
@pytest.mark.parametrize("text", MEAN)
def test_mean_text_comes_back_exactly(kind, text):
    tokenizer = trained(kind)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@every_kind
@pytest.mark.parametrize("text", [*MEAN, *CORPUS[:4]])
def test_the_library_decodes_what_we_decode(kind, text):
    tokenizer = trained(kind)
    library = tokenizers.Tokenizer.from_str(tokenizer.canonical)
    library.encode_special_tokens = True
    ids = tokenizer.encode(text)
    assert library.encode(text).ids == ids
    assert library.decode(ids, skip_special_tokens=False) == text


@every_kind
def test_special_tokens_never_come_from_text_and_are_passed_over_in_decoding(kind):
    tokenizer = trained(kind)
    for special in SPECIAL:
        assert min(tokenizer.encode(f"a {special} b")) >= len(SPECIAL)
    ids = tokenizer.encode("Haus")
    assert tokenizer.decode([2, *ids, 3, 0, 0]) == "Haus"
    assert tokenizer.tokens([2, 3]) == ["<s>", "</s>"]


@every_kind
def test_the_vocabulary_is_as_large_as_allowed_at_most_and_begins_as_promised(kind):
    tokenizer = trained(kind)
    assert len(starting_tokens(kind)) < tokenizer.size <= 601
    assert list(json.loads(tokenizer.canonical)["model"]["vocab"])[: len(SPECIAL)] == (
        [[token, 0.0] for token in SPECIAL] if kind == "unigram" else list(SPECIAL)
    )


@every_kind
def test_a_batch_is_each_text_alone(kind):
    tokenizer = trained(kind)
    texts = [*CORPUS[:4], *MEAN]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]
    assert tokenizer.decode_batch(tokenizer.encode_batch(texts)) == texts


@every_kind
def test_tokens_shown_to_people_spell_the_text(kind):
    tokenizer = trained(kind)
    shown = "".join(tokenizer.tokens(tokenizer.encode("Ein Haus, 2 Kinder")))
    assert shown.lstrip("▁") == "Ein▁Haus,▁2▁Kinder"


@every_kind
def test_words_cover_every_token_in_order(kind):
    tokenizer = trained(kind)
    ids = [2, *tokenizer.encode("Ein Mann doesn't schlafen,  im Haus. "), 3]
    words = tokenizer.words(ids)
    said = ["<s>", "Ein", "Mann", "doesn't", "schlafen", ",", "im", "Haus", ".", "</s>"]
    assert [word.text for word in words] == said
    covered = [at for word in words for at in range(word.tokens.start, word.tokens.stop)]
    assert covered == list(range(len(ids)))


@every_kind
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_ids_can_be_shown_grouped_and_decoded(kind, data):
    tokenizer = trained(kind)
    ids = data.draw(st.lists(st.integers(0, tokenizer.size - 1)))
    tokenizer.decode(ids)
    assert len(tokenizer.tokens(ids)) == len(ids)
    assert sum(word.tokens.stop - word.tokens.start for word in tokenizer.words(ids)) == len(ids)


@every_kind
def test_lowercase_folds_once_and_for_all(kind):
    tokenizer = trained(kind, lowercase=True)
    assert tokenizer.decode(tokenizer.encode("ÄPFEL im Haus")) == "äpfel im haus"
    assert tokenizer.normalize("ÄPFEL").strip() == "äpfel"
    assert tokenizer.fingerprint != trained(kind).fingerprint


@every_kind
def test_half_a_surrogate_pair_is_refused_by_name(kind):
    with pytest.raises(DataError, match=r"text 2, character 3.*U\+D800"):
        trained(kind).encode_batch(["gut", "ab\ud800"])


@every_kind
@pytest.mark.parametrize("lowercase", [False, True])
def test_saved_and_loaded_it_is_the_same(kind, lowercase, tmp_path: Path):
    tokenizer = trained(kind, lowercase)
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded == tokenizer and loaded.fingerprint == tokenizer.fingerprint
    assert (loaded.kind, loaded.lowercase) == (kind, lowercase)
    assert loaded.encode_batch(CORPUS + MEAN) == tokenizer.encode_batch(CORPUS + MEAN)


@every_kind
def test_a_permuted_vocabulary_has_another_fingerprint(kind, tmp_path: Path):
    found = json.loads(trained(kind).canonical)
    vocabulary = found["model"]["vocab"]
    if kind == "unigram":
        vocabulary[-1], vocabulary[-2] = vocabulary[-2], vocabulary[-1]
    else:
        first, second = list(vocabulary)[-2:]
        vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    permuted = Tokenizer.load(path)
    assert permuted.size == trained(kind).size
    assert permuted.fingerprint != trained(kind).fingerprint


@every_kind
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_damaged_file_is_refused_or_harmless(kind, data, tmp_path_factory):
    whole = trained(kind).canonical.encode()
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.sampled_from(["cut", "flip", "drop"]))
    if damage == "cut":
        whole = whole[:at]
    elif damage == "flip":
        whole = (
            whole[:at] + bytes([whole[at] ^ 1 << data.draw(st.integers(0, 7))]) + whole[at + 1 :]
        )
    else:
        whole = whole[:at] + whole[at + 1 :]
    path = tmp_path_factory.mktemp("damaged") / "tokenizer.json"
    path.write_bytes(whole)
    try:
        loaded = Tokenizer.load(path)
    except RunError as error:
        assert str(path) in error.problem
    else:
        assert loaded.decode(loaded.encode("Haus")) == "Haus"


def test_training_gives_the_same_vocabulary_in_another_process():
    program = (
        "from regard.text.train import train_tokenizer\n"
        f"for kind in {KINDS!r}:\n"
        f"    print(train_tokenizer({CORPUS!r}, kind=kind, vocabulary=601).fingerprint)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        cwd=Path(__file__).parents[2] / "src",
    )
    assert printed.stdout.split() == [trained(kind).fingerprint for kind in KINDS]
