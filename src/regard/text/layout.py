"""The kinds of tokenizer, as the JSON that Hugging Face ``tokenizers`` reads.

    text -> " " + text -> words -> bytes -> tokens            (characters: text -> characters -> …)

Every token is a string of bytes, and every single byte is a token, so that any text can be written
and read back exactly, whatever the vocabulary was trained on. A space before the first word makes a
word the same token at the start of a text as within it; decoding takes that one space off again.

The whole pipeline follows from the kind and from ``lowercase``. A file may choose among these and
bring its vocabulary; it cannot bring a pipeline, and therefore no regular expression, of its own.

Five kinds can be trained. The sixth, :mod:`.bert`, is only ever taken over with a checkpoint.
"""

from typing import Any, Literal, get_args

from regard.text import bert
from regard.text.special import SPECIAL

Trained = Literal["bpe", "wordpiece", "unigram", "characters", "words"]
Kind = Literal[Trained, "bert"]
KINDS: tuple[Trained, ...] = get_args(Trained)
"""Those that can be trained."""

CONTINUING = "‿"
"""Marks a WordPiece token that continues a word; no byte is spelled like this."""

_LONGEST_WORD = 100  # WordPiece takes time quadratic in a word's length: longer ones are cut


def _spellings() -> tuple[str, ...]:
    """One printable character per byte: itself where it prints, else one from U+0100 upwards."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    rest = [byte for byte in range(256) if byte not in printable]
    return tuple(
        chr(byte) if byte in printable else chr(256 + rest.index(byte)) for byte in range(256)
    )


BYTES = _spellings()
"""How each of the 256 bytes is spelled inside a token."""

VALUE = {spelling: byte for byte, spelling in enumerate(BYTES)}
"""The byte that each spelling stands for."""


def starting_tokens(kind: Trained) -> tuple[str, ...]:
    """List the tokens every vocabulary of this kind begins with: special ones and bytes."""
    continuing = tuple(CONTINUING + byte for byte in BYTES) if kind == "wordpiece" else ()
    return SPECIAL + BYTES + continuing


def document(
    kind: Kind,
    *,
    lowercase: bool,
    model: dict[str, Any],
    folding: bert.Folding = bert.USUAL,
) -> dict[str, Any]:
    """Write the complete ``tokenizer.json`` for a vocabulary (``model``) of this kind."""
    if kind == "bert":
        around = bert.pipeline(lowercase=lowercase, folding=folding)
    else:
        around = {
            "normalizer": _normalizer(kind, lowercase=lowercase),
            "pre_tokenizer": _pre_tokenizer(kind),
            "decoder": _decoder(kind),
        }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(id, token) for id, token in enumerate(SPECIAL)],
        "normalizer": around["normalizer"],
        "pre_tokenizer": around["pre_tokenizer"],
        "post_processor": None,
        "decoder": around["decoder"],
        "model": model,
    }


def bpe_model(
    tokens: list[str], merges: list[tuple[str, str]], *, whole_words: bool
) -> dict[str, Any]:
    """BPE merges pairs of tokens; ``whole_words`` looks a word up first, and else spells it."""
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
    """WordPiece takes the longest token that fits, again and again."""
    return {
        "type": "WordPiece",
        "unk_token": SPECIAL[1],
        "continuing_subword_prefix": continuing,
        "max_input_chars_per_word": _LONGEST_WORD,
        "vocab": {token: id for id, token in enumerate(tokens)},
    }


def unigram_model(scored: list[tuple[str, float]]) -> dict[str, Any]:
    """Unigram takes the tokens whose log-probabilities sum highest."""
    return {
        "type": "Unigram",
        "unk_id": 1,
        "vocab": [list(pair) for pair in scored],
        "byte_fallback": False,
    }


def token_bytes(kind: Kind, token: str) -> bytes:
    """Return the bytes an ordinary token stands for."""
    if kind == "bert":
        return bert.token_bytes(token)
    spelled = token.removeprefix(CONTINUING) if kind == "wordpiece" else token
    return bytes(VALUE[character] for character in spelled)


def _added(id: int, token: str) -> dict[str, Any]:
    places = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": token, **places, "special": True}


def _normalizer(kind: Kind, *, lowercase: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"type": "Lowercase"}] if lowercase else []
    if kind != "characters":
        steps.append({"type": "Prepend", "prepend": " "})
    return {"type": "Sequence", "normalizers": steps}


def _byte_level(*, words: bool) -> dict[str, Any]:
    ends = {"add_prefix_space": False, "trim_offsets": True}
    return {"type": "ByteLevel", **ends, "use_regex": words}


def _pre_tokenizer(kind: Kind) -> dict[str, Any]:
    steps = [_byte_level(words=kind != "characters")]
    if kind == "characters":
        steps.insert(0, {"type": "FixedLength", "length": 1})
    if kind == "wordpiece":
        steps.append({"type": "FixedLength", "length": _LONGEST_WORD})
    return {"type": "Sequence", "pretokenizers": steps}


def _decoder(kind: Kind) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [_byte_level(words=False)]
    if kind == "wordpiece":
        joined = {"type": "Replace", "pattern": {"String": CONTINUING}, "content": ""}
        steps.insert(0, joined)
    if kind != "characters":
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}
