"""Text to ids and back, without loss.

    decode(encode(text)) == text        for every text (lowercased first, if ``lowercase`` is on)

A token of any kind is a string of bytes, and the tokens of a text spell its bytes. ``encode`` never
returns special ids, and ``decode`` skips them. The kind ``bert``, which comes with imported models,
is lossy: it normalizes more, and a word that it cannot spell is one unknown token.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers

from regard.errors import DataError, RunError
from regard.files import write_whole
from regard.text import bert
from regard.text.layout import CONTINUING, Kind, build_tokenizer_json, token_bytes
from regard.text.special import SPECIAL
from regard.text.stream import TextStream
from regard.text.tokenizer_file import read_parts

_WORD = re.compile(r"\s*(?:\w+(?:[-'’]\w+)*|[^\w\s]+)(?:\s+$)?|\s+")


class Word(NamedTuple):
    """A word, or consecutive punctuation, and its tokens."""

    text: str
    tokens: slice


class Tokenizer:
    """Encodes text as token ids and decodes them.

    Args:
        kind: ``bpe``, ``wordpiece``, ``unigram``, ``characters``, ``words``, or ``bert`` for an
            imported model.
        model: The vocabulary, as :mod:`regard.text.layout` builds it.
        lowercase: Whether text is lowercased first.
        folding: Further normalization; ``bert`` only.

    """

    def __init__(
        self,
        kind: Kind,
        model: dict[str, Any],
        *,
        lowercase: bool,
        folding: bert.Folding = bert.USUAL,
    ) -> None:
        self.kind = kind
        self.lowercase = lowercase
        found = build_tokenizer_json(kind, lowercase=lowercase, model=model, folding=folding)
        self.canonical = _to_canonical_json(found)
        self._library = _load_library(self.canonical)
        vocabulary = self._library.get_vocab(with_added_tokens=True)
        self._spelled = sorted(vocabulary, key=vocabulary.__getitem__)
        self._bytes = [b""] * len(SPECIAL)
        self._bytes += [token_bytes(kind, token) for token in self._spelled[len(SPECIAL) :]]

    @property
    def size(self) -> int:
        """Number of tokens, with special ones."""
        return len(self._bytes)

    @property
    def spelled(self) -> list[str]:
        """Every token as ``tokenizer.json`` spells it, in the order of the ids."""
        return list(self._spelled)

    @property
    def single_bytes(self) -> list[int]:
        """Ids of the tokens of one byte, which spell any text."""
        return [id for id, piece in enumerate(self._bytes) if len(piece) == 1]

    @property
    def begins_word(self) -> list[bool]:
        """Whether each token begins a word, as far as the token alone can tell.

        WordPiece marks tokens that continue a word; otherwise a space or punctuation begins one.
        """
        if self.kind == "wordpiece":
            return [not token.startswith(CONTINUING) for token in self._spelled]
        return [not piece[:1].isalnum() and piece[:1] < b"\x80" for piece in self._bytes]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that determines the ids of a text."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def is_special(self, id: int) -> bool:
        """Return whether an id is a special token."""
        return id < len(SPECIAL)

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __repr__(self) -> str:
        return f"Tokenizer({self.kind!r}, size={self.size})"

    def encode(self, text: str) -> list[int]:
        """Encode a text."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode many texts, on all cores."""
        try:
            encodings = self._library.encode_batch_fast(list(texts), add_special_tokens=False)
        except (UnicodeError, TypeError):
            _refuse_surrogates(texts)
            raise
        return [encoding.ids for encoding in encodings]

    def normalize(self, text: str) -> str:
        """Normalize a text, with a space before its first word."""
        if not self.lowercase and self.kind != "bert":
            return text if self.kind == "characters" or not text else " " + text
        return self._library.normalizer.normalize_str(text)

    def split_words(self, normalized: str) -> list[str]:
        """Split a normalized text into words, spelled in bytes; no token spans two words."""
        try:
            pairs = self._library.pre_tokenizer.pre_tokenize_str(normalized)
        except (UnicodeError, TypeError):
            _refuse_surrogates([normalized])
            raise
        return [word for word, _ in pairs]

    def encode_word(self, spelled: str) -> list[int]:
        """Encode one such word."""
        return [token.id for token in self._library.model.tokenize(spelled)]

    def decode(self, ids: Iterable[int]) -> str:
        """Decode ids; special ones are skipped."""
        text = b"".join(map(self._bytes.__getitem__, ids)).decode("utf-8", errors="replace")
        return text if self.kind == "characters" else text.removeprefix(" ")

    def stream(self) -> TextStream:
        """Start to decode ids one at a time."""
        return TextStream(self._bytes, strip=self.kind != "characters")

    def decode_batch(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Decode many rows of ids."""
        return [self.decode(ids) for ids in rows]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return each token in readable form: ``▁`` is a space, ``<C3>`` a byte of a character."""
        return [_show_piece(self._bytes[id]) if id >= len(SPECIAL) else SPECIAL[id] for id in ids]

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return where each token begins and ends in the decoded text, in characters.

        Of tokens that share a character, the first has it.
        """
        pieces = [self._bytes[id] for id in ids]
        begun = [sum(byte & 0xC0 != 0x80 for byte in piece) for piece in pieces]  # characters
        edges = list(accumulate(begun, initial=0))
        space = self.kind != "characters" and b"".join(pieces).startswith(b" ")
        edges = [max(0, edge - space) for edge in edges]
        return list(pairwise(edges))

    def words(self, ids: Sequence[int]) -> list[Word]:
        """Group tokens into words and punctuation; a special token is a word of its own."""
        words: list[Word] = []
        start = 0
        for stop in [*(at for at, id in enumerate(ids) if id < len(SPECIAL)), len(ids)]:
            words += self._group_words(ids[start:stop], start)
            if stop < len(ids):
                words.append(Word(SPECIAL[ids[stop]], slice(stop, stop + 1)))
            start = stop + 1
        return words

    def save(self, path: Path) -> None:
        """Write ``tokenizer.json``, which Hugging Face ``tokenizers`` reads as well."""
        write_whole(path, self.canonical + "\n")

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a ``tokenizer.json`` of this package; any other is refused."""
        kind, lowercase, model, folding = read_parts(path)
        try:
            return cls(kind, model, lowercase=lowercase, folding=folding)
        except ValueError as error:
            problem = f"{path} cannot be used: {error}."
            raise RunError(problem, "Use the tokenizer.json that training wrote.") from None

    def _group_words(self, ids: Sequence[int], start: int) -> list[Word]:
        """Group ordinary tokens; a token belongs to the word of its first byte."""
        pieces = [self._bytes[id] for id in ids]
        edges = _find_word_ends(b"".join(pieces))
        firsts = accumulate(map(len, pieces), initial=0)
        numbers = [bisect_right(edges, first) for first in firsts]
        words = []
        for _, group in groupby(range(len(ids)), key=numbers.__getitem__):
            first, *rest = group
            stop = first + len(rest) + 1
            text = self.decode(ids[first:stop]).strip()
            words.append(Word(text, slice(start + first, start + stop)))
        return words


def _find_word_ends(text: bytes) -> list[int]:
    """Find where each word of an encoded text ends, in bytes."""
    # Invalid bytes (a model may generate them) become one surrogate each.
    words = _WORD.findall(text.decode("utf-8", errors="surrogateescape"))
    return list(accumulate(len(word.encode("utf-8", errors="surrogateescape")) for word in words))


def _to_canonical_json(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _load_library(canonical: str) -> tokenizers.Tokenizer:
    try:
        library = tokenizers.Tokenizer.from_str(canonical)
    except Exception as error:
        raise ValueError(f"the library refuses it ({error})") from None
    # A text that contains "</s>" is encoded in ordinary tokens.
    library.encode_special_tokens = True
    return library


def _show_piece(piece: bytes) -> str:
    try:
        return piece.decode("utf-8").replace(" ", "▁")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"<{byte:02X}>" for byte in piece)


def _refuse_surrogates(texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            place = f"text {number + 1}, character {error.start + 1}"
            raise DataError(
                f"Text must be valid Unicode; {place} is an unpaired surrogate "
                f"(U+{ord(text[error.start]):04X}).",
                "Read the text from its source as UTF-8.",
            ) from None
