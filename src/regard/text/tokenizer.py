"""Strings to ids and back, exactly.

    decode(encode(text)) == text        for every text (folded first, where ``lowercase`` is on)

Whatever the kind, a token is a string of bytes, so the ids of a text are its bytes in larger or
smaller pieces. Special ids never come out of ``encode`` and never go into ``decode``. The kind
``bert``, taken over with other people's models, promises less: it folds more, and a word that it
cannot spell is one unknown token.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers

from regard.errors import DataError, RunError
from regard.files import write_whole
from regard.text import bert
from regard.text.layout import CONTINUING, Kind, document, token_bytes
from regard.text.special import SPECIAL
from regard.text.strict import read_parts

_WORD = re.compile(r"\s*(?:\w+(?:[-'’]\w+)*|[^\w\s]+)(?:\s+$)?|\s+")


class Word(NamedTuple):
    """A word, or a run of punctuation, and the tokens that spell it."""

    text: str
    tokens: slice


class Tokenizer:
    """Cuts text into tokens and puts them together again.

    Args:
        kind: What a token is: ``bpe``, ``wordpiece``, ``unigram``, ``characters``, ``words``, or
            what it is to a ``bert`` that was trained elsewhere.
        model: The vocabulary, as :mod:`regard.text.layout` writes it.
        lowercase: Whether capitals are folded away first.
        folding: What else is done first; ``bert`` only.

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
        found = document(kind, lowercase=lowercase, model=model, folding=folding)
        self.canonical = _canonical(found)
        self._library = _library(self.canonical)
        vocabulary = self._library.get_vocab(with_added_tokens=True)
        self._spelled = sorted(vocabulary, key=vocabulary.__getitem__)
        self._bytes = [b""] * len(SPECIAL)
        self._bytes += [token_bytes(kind, token) for token in self._spelled[len(SPECIAL) :]]

    @property
    def size(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self._bytes)

    @property
    def single_bytes(self) -> list[int]:
        """Ids of the tokens of one byte; with them any text can be spelled."""
        return [id for id, piece in enumerate(self._bytes) if len(piece) == 1]

    @property
    def begins_word(self) -> list[bool]:
        """Say of every token whether it begins a word, as far as the token alone can tell.

        WordPiece marks what continues a word; elsewhere a space or a mark of punctuation begins
        one.
        """
        if self.kind == "wordpiece":
            return [not token.startswith(CONTINUING) for token in self._spelled]
        return [not piece[:1].isalnum() and piece[:1] < b"\x80" for piece in self._bytes]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides which ids a text becomes."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def is_special(self, id: int) -> bool:
        """Say whether an id marks a place and spells nothing."""
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
        """Turn a text into ids."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Turn many texts into ids, on all cores."""
        try:
            encodings = self._library.encode_batch_fast(list(texts), add_special_tokens=False)
        except (UnicodeError, TypeError):
            _refuse_surrogates(texts)
            raise
        return [encoding.ids for encoding in encodings]

    def normalized(self, text: str) -> str:
        """Fold a text as this tokenizer does, and put a space before its first word."""
        if not self.lowercase and self.kind != "bert":
            return text if self.kind == "characters" or not text else " " + text
        return self._library.normalizer.normalize_str(text)

    def spelled_words(self, normalized: str) -> list[str]:
        """Cut a folded text into the words no token reaches across, spelled in bytes."""
        try:
            pairs = self._library.pre_tokenizer.pre_tokenize_str(normalized)
        except (UnicodeError, TypeError):
            _refuse_surrogates([normalized])
            raise
        return [word for word, _ in pairs]

    def word_ids(self, spelled: str) -> list[int]:
        """Turn one such word into ids."""
        return [token.id for token in self._library.model.tokenize(spelled)]

    def decode(self, ids: Iterable[int]) -> str:
        """Turn ids into text; special ones are passed over."""
        text = b"".join(map(self._bytes.__getitem__, ids)).decode("utf-8", errors="replace")
        return text if self.kind == "characters" else text.removeprefix(" ")

    def decode_batch(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Turn many rows of ids into texts."""
        return [self.decode(ids) for ids in rows]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Show each token to a person: ``▁`` is a space, ``<C3>`` a byte that is no character."""
        return [_shown(self._bytes[id]) if id >= len(SPECIAL) else SPECIAL[id] for id in ids]

    def words(self, ids: Sequence[int]) -> list[Word]:
        """Group tokens into words and punctuation; a special token is a word of its own."""
        words: list[Word] = []
        start = 0
        for stop in [*(at for at, id in enumerate(ids) if id < len(SPECIAL)), len(ids)]:
            words += self._words(ids[start:stop], start)
            if stop < len(ids):
                words.append(Word(SPECIAL[ids[stop]], slice(stop, stop + 1)))
            start = stop + 1
        return words

    def save(self, path: Path) -> None:
        """Write ``tokenizer.json``, which Hugging Face ``tokenizers`` reads as well."""
        write_whole(path, self.canonical + "\n")

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a ``tokenizer.json`` of ours; anything else is refused."""
        kind, lowercase, model, folding = read_parts(path)
        try:
            return cls(kind, model, lowercase=lowercase, folding=folding)
        except ValueError as error:
            problem = f"{path} cannot be used: {error}."
            raise RunError(problem, "Use the tokenizer.json that training wrote.") from None

    def _words(self, ids: Sequence[int], start: int) -> list[Word]:
        """Words of ordinary tokens: each token belongs to the word its first byte is in."""
        pieces = [self._bytes[id] for id in ids]
        edges = _word_ends(b"".join(pieces))
        firsts = accumulate(map(len, pieces), initial=0)
        numbers = [bisect_right(edges, first) for first in firsts]
        words = []
        for _, group in groupby(range(len(ids)), key=numbers.__getitem__):
            first, *rest = group
            stop = first + len(rest) + 1
            text = self.decode(ids[first:stop]).strip()
            words.append(Word(text, slice(start + first, start + stop)))
        return words


def _word_ends(text: bytes) -> list[int]:
    """Where each word of an encoded text ends, in bytes."""
    # Bytes that are no character (a model may write such) become one odd character each.
    words = _WORD.findall(text.decode("utf-8", errors="surrogateescape"))
    return list(accumulate(len(word.encode("utf-8", errors="surrogateescape")) for word in words))


def _canonical(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _library(canonical: str) -> tokenizers.Tokenizer:
    try:
        library = tokenizers.Tokenizer.from_str(canonical)
    except Exception as error:
        raise ValueError(f"the library refuses it ({error})") from None
    # A text that contains "</s>" says so in ordinary tokens; only we place the special ones.
    library.encode_special_tokens = True
    return library


def _shown(piece: bytes) -> str:
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
                f"Text must be Unicode; half a surrogate pair (U+{ord(text[error.start]):04X}) is "
                f"not. Found in {place}.",
                "Read the text again from its source as UTF-8.",
            ) from None
