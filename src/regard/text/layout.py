"""The kinds of tokenizer, as the JSON that Hugging Face ``tokenizers`` reads.

    text -> " " + text -> words -> bytes -> tokens            (characters: text -> characters -> …)

Every token is a string of bytes, and every single byte is a token. So encoding and decoding any
text is lossless, whatever the vocabulary was trained on. The space before the first word makes a
word the same token at the start of a text as inside it; decoding removes this space.

The whole pipeline follows from the kind and ``lowercase``. A file chooses one of them and
provides the vocabulary; it cannot provide a pipeline, and thus no regular expression, of its own.

Five kinds can be trained. The sixth, :mod:`.bert`, only comes with an imported checkpoint.
"""

from typing import Any, Literal, get_args

from regard.text import bert
from regard.text.special import SPECIAL

Trained = Literal["bpe", "wordpiece", "unigram", "characters", "words"]
Kind = Literal[Trained, "bert"]
KINDS: tuple[Trained, ...] = get_args(Trained)
"""The kinds that can be trained."""

CONTINUING = "‿"
"""Prefix of a WordPiece token that continues a word; not the spelling of any byte."""

_LONGEST_WORD = 100  # WordPiece is quadratic in the length of a word: longer ones are split


def _spell_bytes() -> tuple[str, ...]:
    """Return one printable character per byte: itself, or one from U+0100 upwards."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    rest = [byte for byte in range(256) if byte not in printable]
    return tuple(
        chr(byte) if byte in printable else chr(256 + rest.index(byte)) for byte in range(256)
    )


BYTES = _spell_bytes()
"""How each of the 256 bytes is spelled inside a token."""

VALUE = {spelling: byte for byte, spelling in enumerate(BYTES)}
"""The byte of each spelling."""


def starting_tokens(kind: Trained) -> tuple[str, ...]:
    """Return the first tokens of every vocabulary of this kind: special tokens and bytes."""
    continuing = tuple(CONTINUING + byte for byte in BYTES) if kind == "wordpiece" else ()
    return SPECIAL + BYTES + continuing


def build_tokenizer_json(
    kind: Kind,
    *,
    lowercase: bool,
    model: dict[str, Any],
    folding: bert.Folding = bert.USUAL,
) -> dict[str, Any]:
    """Build the complete ``tokenizer.json`` for a vocabulary (``model``) of this kind."""
    if kind == "bert":
        around = bert.build_pipeline(lowercase=lowercase, folding=folding)
    else:
        around = {
            "normalizer": _make_normalizer(kind, lowercase=lowercase),
            "pre_tokenizer": _make_pre_tokenizer(kind),
            "decoder": _make_decoder(kind),
        }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_make_added_token(id, token) for id, token in enumerate(SPECIAL)],
        "normalizer": around["normalizer"],
        "pre_tokenizer": around["pre_tokenizer"],
        "post_processor": None,
        "decoder": around["decoder"],
        "model": model,
    }


def bpe_model(
    tokens: list[str], merges: list[tuple[str, str]], *, whole_words: bool
) -> dict[str, Any]:
    """Build a BPE model; ``whole_words``: words are looked up, unknown ones spelled in bytes."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": whole_words,
        "vocab": {token: id for id, token in enumerate(tokens)},
        "merges": [list(pair) for pair in merges],
    }


def wordpiece_model(tokens: list[str], *, continuing: str = CONTINUING) -> dict[str, Any]:
    """Build a WordPiece model: greedy longest match."""
    return {
        "type": "WordPiece",
        "unk_token": SPECIAL[1],
        "continuing_subword_prefix": continuing,
        "max_input_chars_per_word": _LONGEST_WORD,
        "vocab": {token: id for id, token in enumerate(tokens)},
    }


def unigram_model(scored: list[tuple[str, float]]) -> dict[str, Any]:
    """Build a Unigram model: the segmentation of highest probability."""
    return {
        "type": "Unigram",
        "unk_id": 1,
        "vocab": [list(pair) for pair in scored],
        "byte_fallback": False,
    }


def token_bytes(kind: Kind, token: str) -> bytes:
    """Return the bytes of an ordinary token."""
    if kind == "bert":
        return bert.token_bytes(token)
    spelled = token.removeprefix(CONTINUING) if kind == "wordpiece" else token
    return bytes(VALUE[character] for character in spelled)


def _make_added_token(id: int, token: str) -> dict[str, Any]:
    places = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": token, **places, "special": True}


def _make_normalizer(kind: Kind, *, lowercase: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"type": "Lowercase"}] if lowercase else []
    if kind != "characters":
        steps.append({"type": "Prepend", "prepend": " "})
    return {"type": "Sequence", "normalizers": steps}


def _make_byte_level(*, words: bool) -> dict[str, Any]:
    ends = {"add_prefix_space": False, "trim_offsets": True}
    return {"type": "ByteLevel", **ends, "use_regex": words}


def _make_pre_tokenizer(kind: Kind) -> dict[str, Any]:
    steps = [_make_byte_level(words=kind != "characters")]
    if kind == "characters":
        steps.insert(0, {"type": "FixedLength", "length": 1})
    if kind == "wordpiece":
        steps.append({"type": "FixedLength", "length": _LONGEST_WORD})
    return {"type": "Sequence", "pretokenizers": steps}


def _make_decoder(kind: Kind) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [_make_byte_level(words=False)]
    if kind == "wordpiece":
        joined = {"type": "Replace", "pattern": {"String": CONTINUING}, "content": ""}
        steps.insert(0, joined)
    if kind != "characters":
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}
