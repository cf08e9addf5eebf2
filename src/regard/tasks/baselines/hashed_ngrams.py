"""Texts as bags of hashed n-grams: of one to three words, and of two to five characters of a word.

    word      = lower-cased letters and digits, or consecutive punctuation
    n-gram    = hash of words that follow each other, or of characters of " word "
    row       = the hash's first 24 bits: one of 16.8 million places, for words and for characters

This is the hashing trick (Weinberger et al. 2009): there is no vocabulary to learn or to store. Of
a few million n-grams, one in ten shares its row with a rarer one, which costs a linear model next
to nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

BITS = 24
CHARACTER_ROW = 1 << BITS  # the first row of character n-grams
ROWS = 2 << BITS
SHORTEST_CHARACTERS, LONGEST_CHARACTERS = 2, 5
CHUNK = 512  # texts hashed at once, so that their n-grams fit the processor's cache
MOST_WORDS = 1 << 20  # words whose hash is cached
_WORD = re.compile(r"\w+|[^\w\s]+")
_SHIFT = 32
_ROW = (1 << BITS) - 1
_STIR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)

Item = TypeVar("Item")
Keys = NDArray[np.int64]
"""``text << 32 | row``: which rows occur in which text of a chunk."""


@dataclass(frozen=True)
class Bags:
    """Sparse rows of a matrix; text n has ``rows[offsets[n] : offsets[n + 1]]``."""

    rows: NDArray[np.int32]
    offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    """How often each n-gram occurs, or what a model makes of it."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, texts: NDArray[np.int64]) -> "Bags":
        """Return the bags of some texts, in their order."""
        counts = np.diff(self.offsets)[texts]
        places = concatenate_ranges(self.offsets[texts], counts)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return Bags(self.rows[places], offsets, self.values[places])

    def keep(self, kept: NDArray[np.bool_]) -> "Bags":
        """Return the entries that are ``kept``."""
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Bags(self.rows[kept], offsets, self.values[kept])


class Ngrams(NamedTuple):
    """Which n-grams are counted: up to this many words, and those of characters."""

    words: int = 2
    characters: bool = True


class WordHashes(dict[str, int]):
    """A 64-bit hash of every word, the same on every machine."""

    def __missing__(self, word: str) -> int:
        if len(self) >= MOST_WORDS:
            self.clear()
        found = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
        self[word] = found
        return found


def hash_ngrams(texts: Iterable[str], ngrams: Ngrams) -> Bags:
    """Count the n-grams of texts."""
    hashes, parts = WordHashes(), []
    for chunk in chunks(texts):
        split = [_WORD.findall(text.lower()) for text in chunk]
        found = [_word_keys(split, hashes, longest=ngrams.words)]
        if ngrams.characters:
            found.append(_character_keys(split))
        parts.append(bags_of_keys(np.concatenate(found), len(chunk)))
    return concatenate(parts)


def concatenate_ranges(begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of ranges, one range after another."""
    return np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Cut into lists of bounded length."""
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def word_keys(texts: Sequence[str], hashes: WordHashes, *, longest: int) -> Keys:
    """Return the distinct keys of the word n-grams of ``texts``, sorted."""
    split = [_WORD.findall(text.lower()) for text in texts]
    return np.unique(_word_keys(split, hashes, longest=longest))


def ngram_keys(units: NDArray[np.uint64], counts: Sequence[int], *, longest: int) -> list[Keys]:
    """Hash the n-grams of units (words or characters), order by order; none spans two texts."""
    text = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    found, ngrams = [], units
    for more in range(longest):
        if more:
            ngrams = (ngrams[:-1] * _STIR ^ (ngrams[:-1] >> np.uint64(29))) + units[more:]
        within = text[: len(ngrams)] == text[more:]
        found.append((text[: len(ngrams)] << _SHIFT | _hash_rows(ngrams))[within])
    return found


def character_codes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Return a number for every character; neighbouring codes would collide in an n-gram's hash."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes.astype(np.uint64) * _STIR


def bags_of_keys(keys: Keys, texts: int) -> Bags:
    """Count the keys of ``texts`` texts."""
    keys = np.sort(keys)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    times = np.diff(np.append(first, len(keys))).astype(np.float32)
    keys = keys[first]
    offsets = np.concatenate([[0], np.cumsum(count_keys(keys, texts))])
    return Bags((keys & (1 << _SHIFT) - 1).astype(np.int32), offsets, times)


def count_keys(keys: Keys, texts: int) -> NDArray[np.int64]:
    """Count the keys of each text."""
    return np.bincount(keys >> _SHIFT, minlength=texts)


def concatenate(parts: Sequence[Bags]) -> Bags:
    """Return the bags of all parts."""
    counts = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)]
    return Bags(
        np.concatenate([np.empty(0, np.int32), *(part.rows for part in parts)]),
        np.cumsum(np.concatenate(counts)),
        np.concatenate([np.empty(0, np.float32), *(part.values for part in parts)]),
    )


def salt_keys(keys: Keys, salt: int) -> Keys:
    """Move keys to rows of their own, one set of rows for each kind of feature."""
    row = (keys & _ROW).astype(np.uint64) + np.uint64(salt << BITS)
    return (keys >> _SHIFT << _SHIFT) | _hash_rows(row * _STIR)


def cross_keys(text: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> Keys:
    """Return a key for every pair of a row of ``one`` and a row of ``other``."""
    crossed = one[:, None] * 40_503 + other * 65_599 & _ROW
    return text << _SHIFT | crossed.ravel()


def _word_keys(split: Sequence[list[str]], hashes: WordHashes, *, longest: int) -> Keys:
    counts = [len(words) for words in split]
    every = (hashes[word] for words in split for word in words)
    units = np.fromiter(every, np.uint64, count=sum(counts))
    return np.concatenate(ngram_keys(units, counts, longest=longest))


def _character_keys(split: Sequence[list[str]]) -> Keys:
    """Hash the character n-grams of every distinct word once, then look them up for each text."""
    numbers: dict[str, int] = {}
    every = (numbers.setdefault(word, len(numbers)) for words in split for word in words)
    words = np.fromiter(every, np.int64, count=sum(map(len, split)))
    padded = [f" {word} " for word in numbers]
    found = ngram_keys(character_codes(padded), [*map(len, padded)], longest=LONGEST_CHARACTERS)
    ngrams = bags_of_keys(np.concatenate(found[SHORTEST_CHARACTERS - 1 :]), len(padded))
    counts = np.diff(ngrams.offsets)[words]
    rows = ngrams.rows[concatenate_ranges(ngrams.offsets[words], counts)].astype(np.int64)
    text = np.repeat(np.arange(len(split), dtype=np.int64), [len(own) for own in split])
    return np.repeat(text, counts) << _SHIFT | rows + CHARACTER_ROW


def _hash_rows(ngrams: NDArray[np.uint64]) -> NDArray[np.int64]:
    mixed = ngrams * _MIX
    mixed ^= mixed >> np.uint64(32)
    return (mixed * _MIX >> np.uint64(64 - BITS)).astype(np.int64)
