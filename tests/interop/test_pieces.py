"""Texts are cut as transformers cuts them, from the same files."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.interop.pieces import read_pieces
from regard.text.special import SPECIAL

FOLDINGS = {
    "uncased": {},
    "cased": {"do_lower_case": False},
    "uncased with accents": {"strip_accents": False},
    "cased without accents": {"do_lower_case": False, "strip_accents": True},
    "no Chinese": {"tokenize_chinese_chars": False},
}
SPELLED = {"[UNK]": "<unk>"}

any_text = st.text(st.characters(exclude_categories=["Cs"]))
near_text = st.text(
    st.sampled_from("aAbsSéÉe\u0301ßİ漢字カ한\u200b\u00a0\u3000\t\n\r\x00\x7f\x85\ufffd'-#[]. 0١")
)
special_text = st.lists(st.sampled_from(["[CLS]", "[SEP]", "[MASK]", "<s>", "##s", "ship", " "]))


@pytest.fixture(scope="module", params=["tokenizer.json", "vocab.txt"])
def folders(checkpoints, request, tmp_path_factory):
    """Return a folder for every folding, written in one of the two ways."""
    made = {}
    for name, changes in FOLDINGS.items():
        folder = made[name] = tmp_path_factory.mktemp("pieces")
        tokenizer = checkpoints.tokenizer(**changes)
        tokenizer.save_pretrained(folder)
        if request.param == "vocab.txt":
            (folder / "tokenizer.json").unlink()
            ids = tokenizer.get_vocab()
            (folder / "vocab.txt").write_text("".join(f"{t}\n" for t in sorted(ids, key=ids.get)))
            (folder / "tokenizer_config.json").write_text(json.dumps(changes))
    return made


@pytest.fixture(scope="module")
def pairs(checkpoints, folders):
    """Return our tokenizer and theirs, read from the same folder, for every folding."""
    read = checkpoints.transformers.BertTokenizer.from_pretrained
    return {name: (read_pieces(folder).tokenizer, read(folder)) for name, folder in folders.items()}


def spelled(tokenizer, ids):
    tokens = {id: token for token, id in json.loads(tokenizer.canonical)["model"]["vocab"].items()}
    return [tokens[id] for id in ids]


@pytest.mark.parametrize("folding", FOLDINGS)
@settings(max_examples=150, deadline=None)
@given(text=any_text | near_text | special_text.map("".join))
@example("x" * 100 + " " + "x" * 101)
@example("Café ÜBER İstanbul naïve ﬁ Ⅷ 漢字カナ한글 don't e\u0301 \ufffd\x00 ☃ ##s")
def test_any_text_is_cut_into_their_pieces(pairs, folding, text):
    ours, theirs = pairs[folding]
    expected = theirs(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    tokens = theirs.convert_ids_to_tokens(expected)
    assert spelled(ours, ours.encode(text)) == [SPELLED.get(token, token) for token in tokens]


def test_foldings_differ_where_they_should(pairs):
    """The yardstick: texts of the test above can tell the foldings apart."""
    cut = {
        name: tuple(spelled(ours, ours.encode("é 漢字 Sail"))) for name, (ours, _) in pairs.items()
    }
    assert len(set(cut.values())) == len(FOLDINGS)


def test_rows_stand_where_our_ids_ask_for_them(checkpoints, folders):
    tokenizer, rows = read_pieces(folders["uncased"])
    theirs = checkpoints.tokenizer().convert_ids_to_tokens
    named = [row if row is None else theirs(row) for row in rows]
    assert named[: len(SPECIAL)] == ["[PAD]", "[UNK]", None, None, "[CLS]", "[SEP]", "[MASK]"]
    assert named[len(SPECIAL) :] == spelled(tokenizer, range(len(SPECIAL), tokenizer.size))
    ordinary = rows[len(SPECIAL) :]
    assert ordinary == sorted(ordinary)


def test_special_tokens_of_other_names_find_their_places(tmp_path):
    (tmp_path / "vocab.txt").write_text("<s>\n</s>\nleer\nweiter\nx\nanfang\nende\nmaske\n")
    roles = {"pad_token": "leer", "unk_token": {"content": "weiter"}, "cls_token": "anfang"}
    roles |= {"sep_token": "ende", "mask_token": "maske"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(roles))
    tokenizer, rows = read_pieces(tmp_path)
    assert rows == [2, 3, 0, 1, 5, 6, 7, 4]
    assert tokenizer.encode("x y") == [7, 1]


def change(path, *steps, to):
    """Set a place of a JSON file."""
    whole = json.loads(path.read_text())
    place = whole
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = to
    path.write_text(json.dumps(whole))


ADDED = {"id": 3, "content": "xyz", "single_word": False, "lstrip": False, "rstrip": False}
WRONG = {
    "another normalizer": (("normalizer",), {"type": "NFC"}, "its normalizer is NFC"),
    "a switch that is none": (("normalizer", "lowercase"), 1, "its normalizer is BertNormalizer"),
    "another pre-tokenizer": (("pre_tokenizer", "type"), "Metaspace", "pre-tokenizer is Metaspace"),
    "another model": (("model", "type"), "BPE", "its model is BPE"),
    "another mark": (
        ("model", "continuing_subword_prefix"),
        "@@",
        "continuing_subword_prefix is '@@'",
    ),
    "longer words": (("model", "max_input_chars_per_word"), 7, "max_input_chars_per_word is 7"),
    "another unknown": (("model", "unk_token"), "x", "unk_token is 'x'"),
    "a gap in the ids": (("model", "vocab", "ship"), 9999, "do not count from 0"),
    "no vocabulary": (("model", "vocab"), None, "no table of ids"),
    "an added token": (("added_tokens", 0), ADDED, "'xyz' was added"),
    "another frame": (("post_processor", "single"), [], "frames a text as , not [CLS] A [SEP]"),
    "a strange frame": (("post_processor",), {"type": "ByteLevel"}, "frames a text as ByteLevel"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_would_cut_otherwise_is_refused(checkpoints, tmp_path, wrong):
    checkpoints.tokenizer().save_pretrained(tmp_path)
    steps, to, words = WRONG[wrong]
    change(tmp_path / "tokenizer.json", *steps, to=to)
    with pytest.raises(DataError) as error:
        read_pieces(tmp_path)
    assert words in error.value.problem and "tokenizer.json" in error.value.problem


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a\nb\n", "the special token [PAD] is not in it"),
        ("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\na\n", "in it twice"),
        ("[PAD]\n[UNK]\n[CLS]\n\n[SEP]\n[MASK]\na\n", "a token is empty"),
        ("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n<pad>\n", "<pad> is an ordinary token"),
    ],
)
def test_a_list_of_tokens_that_does_not_fit_is_refused(tmp_path, lines, words):
    (tmp_path / "vocab.txt").write_text(lines)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(DataError) as error:
        read_pieces(tmp_path)
    assert words in error.value.problem


def test_files_that_contradict_each_other_are_refused(checkpoints, tmp_path):
    checkpoints.tokenizer().save_pretrained(tmp_path)
    change(tmp_path / "tokenizer_config.json", "do_lower_case", to=False)
    with pytest.raises(DataError, match="do_lower_case is False"):
        read_pieces(tmp_path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"do_lower_case": "no"}, "switches"), ({"strip_accents": 1}, "switches")],
)
def test_switches_are_true_or_false(tmp_path, settings, words):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(DataError, match=words):
        read_pieces(tmp_path)
