"""Texts as bags of hashed word n-grams: which runs of one to three words a text holds.

    word   = lower-cased letters and digits, or a run of punctuation
    run    = hash of one, two or three words that follow each other
    row    = the run's first 24 bits: one of 16.8 million places

Presence counts, not number: a word said twice says little more than a word said once (Wang and
Manning 2012). Nothing is learned here, so nothing has to be kept to read a new text the same way.
Two runs that fall on one row (of a few million, one in ten shares its row with a rarer one) are
told apart by nobody; it costs a linear model next to nothing (Weinberger et al. 2009).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

BITS = 24
LONGEST_RUN = 3
CHUNK = 512  # texts read at once: their runs fit the processor's cache
MOST_WORDS = 1 << 20  # words whose hash is remembered
_WORD = re.compile(r"\w+|[^\w\s]+")
_ROW = (1 << BITS) - 1
_STIR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)

Item = TypeVar("Item")
Keys = NDArray[np.int64]
"""``text << BITS | row``, ascending, each once: which rows which text of a chunk holds."""


class Bags(NamedTuple):
    """Rows of many texts, one after another; text n has ``rows[offsets[n] : offsets[n + 1]]``."""

    rows: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def some(self, texts: NDArray[np.int64]) -> "Bags":
        """Return the bags of some texts, in their order."""
        counts = np.diff(self.offsets)[texts]
        places = runs_of(self.offsets[texts], counts)
        return Bags(self.rows[places], np.concatenate([[0], np.cumsum(counts)]))


class WordHashes(dict[str, int]):
    """A 64-bit hash of every word met, the same on every machine."""

    def __missing__(self, word: str) -> int:
        if len(self) >= MOST_WORDS:
            self.clear()
        found = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
        self[word] = found
        return found


def bags(texts: Iterable[str]) -> Bags:
    """Read texts, a chunk at a time."""
    hashes = WordHashes()
    return joined(bag_of_keys(keys(chunk, hashes), len(chunk)) for chunk in chunks(texts))


def runs_of(begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of runs, one run after another: where each begins, and how many it has."""
    return np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Cut into lists of bounded length."""
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def keys(texts: Sequence[str], hashes: WordHashes, *, longest: int = LONGEST_RUN) -> Keys:
    """Which rows which of ``texts`` holds."""
    return run_keys(*_hashed(texts, hashes), longest=longest)


def run_keys(words: NDArray[np.uint64], counts: Sequence[int], *, longest: int) -> Keys:
    """Hash every run of up to ``longest`` words that stays within its text."""
    text = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    found, runs = [], words
    for more in range(longest):
        if more:
            runs = (runs[:-1] * _STIR ^ (runs[:-1] >> np.uint64(29))) + words[more:]
        begins, ends = text[: len(runs)], text[more:]
        within = begins == ends
        found.append((begins << BITS | _rows(runs))[within])
    return _distinct(np.concatenate(found))


def bag_of_keys(found: Keys, texts: int) -> Bags:
    """Turn keys of ``texts`` texts into bags."""
    counts = np.bincount(found >> BITS, minlength=texts)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Bags((found & _ROW).astype(np.int32), offsets.astype(np.int64))


def joined(parts: Iterable[Bags]) -> Bags:
    """One after another."""
    rows, counts = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for part in parts:
        rows.append(part.rows)
        counts.append(np.diff(part.offsets))
    return Bags(np.concatenate(rows), np.cumsum(np.concatenate(counts)))


def salted(found: Keys, salt: int) -> Keys:
    """Move rows to where another kind of feature has its own."""
    row = (found & _ROW).astype(np.uint64) + np.uint64(salt << BITS)
    return (found & ~np.int64(_ROW)) | _rows(row * _STIR)


def _hashed(texts: Sequence[str], hashes: WordHashes) -> tuple[NDArray[np.uint64], list[int]]:
    """Return a hash for every word of texts, and how many words each text has."""
    words = [_WORD.findall(text.lower()) for text in texts]
    counts = [len(found) for found in words]
    every = (hashes[word] for found in words for word in found)
    return np.fromiter(every, np.uint64, count=sum(counts)), counts


def _rows(runs: NDArray[np.uint64]) -> NDArray[np.int64]:
    mixed = runs * _MIX
    mixed ^= mixed >> np.uint64(32)
    return (mixed * _MIX >> np.uint64(64 - BITS)).astype(np.int64)


def _distinct(found: Keys) -> Keys:
    found = np.sort(found)
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found
