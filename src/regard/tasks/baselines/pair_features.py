"""Features of two texts: the n-grams they share, and those that only one of them has.

    bags      n-grams of A that B lacks, n-grams of B that A lacks, n-grams of both, and pairs of
              a word that only A has with a word that only B has
    numbers   for words, pairs, triples of words and for fours of characters:
              |A ∩ B| / |A ∪ B|, / |A|, / |B|;   and log |A|, log |B| and their difference

Each kind of bag has rows of its own, so "not" in A is another feature than "not" in B.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.tasks.baselines.hashed_ngrams import (
    Bags,
    Keys,
    WordHashes,
    bags_of_keys,
    character_codes,
    chunks,
    concatenate,
    count_keys,
    cross_keys,
    ngram_keys,
    salt_keys,
    word_keys,
)

LONGEST_WORDS, CHARACTERS = 3, 4  # of an n-gram
ONLY_A, ONLY_B, BOTH, CROSSED = range(1, 5)
MOST_CROSSED = 200  # pairs of words of one pair of texts; more are not counted


def pair_features(pairs: Iterable[tuple[str, ...]]) -> tuple[Bags, NDArray[np.float32]]:
    """Return bags and numbers of pairs, a chunk at a time."""
    hashes = WordHashes()
    bags, numbers = [], [np.zeros((0, 3 * (LONGEST_WORDS + 1) + 3), np.float32)]
    for chunk in chunks(pairs):
        own, further = _chunk_features(chunk, hashes)
        bags.append(own)
        numbers.append(further)
    return concatenate(bags), np.concatenate(numbers)


def _chunk_features(
    pairs: Sequence[tuple[str, ...]], hashes: WordHashes
) -> tuple[Bags, NDArray[np.float32]]:
    count = len(pairs)
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    overlaps, found = [], []
    for longest in range(1, LONGEST_WORDS + 1):
        a, b = (word_keys(side, hashes, longest=longest) for side in (firsts, seconds))
        overlaps.append(_overlap(a, b, count))
        if longest == 1:
            sizes = [count_keys(a, count), count_keys(b, count)]
            lengths = np.log1p(np.stack(sizes, axis=1))
            found.append(_cross(np.setdiff1d(a, b), np.setdiff1d(b, a), count))
    found += [
        salt_keys(np.setdiff1d(a, b), ONLY_A),
        salt_keys(np.setdiff1d(b, a), ONLY_B),
        salt_keys(np.intersect1d(a, b), BOTH),
    ]
    overlaps.append(_overlap(_character_keys(firsts), _character_keys(seconds), count))
    difference = np.abs(lengths[:, :1] - lengths[:, 1:])
    numbers = np.concatenate([*overlaps, lengths, difference], axis=1).astype(np.float32)
    return bags_of_keys(np.unique(np.concatenate(found)), count), numbers


def _overlap(a: Keys, b: Keys, count: int) -> NDArray[np.float64]:
    """Return the shared share of the union, of A and of B."""
    mine, theirs = count_keys(a, count), count_keys(b, count)
    shared = count_keys(np.intersect1d(a, b), count)
    wholes = (mine + theirs - shared, mine, theirs)
    return np.stack([shared / np.maximum(whole, 1) for whole in wholes], axis=1)


def _character_keys(texts: Sequence[str]) -> Keys:
    """Hash character n-grams of folded texts; white space counts as one space."""
    folded = [" ".join(text.lower().split()) for text in texts]
    found = ngram_keys(character_codes(folded), [*map(len, folded)], longest=CHARACTERS)
    return np.unique(np.concatenate(found))


def _cross(only_a: Keys, only_b: Keys, count: int) -> Keys:
    """Pair a word of A with a word of B, where the other text lacks both."""
    a, b = (bags_of_keys(only, count) for only in (only_a, only_b))
    found = [np.empty(0, np.int64)]
    for number in range(count):
        mine, theirs = (
            side.rows[side.offsets[number] : side.offsets[number + 1]].astype(np.int64)
            for side in (a, b)
        )
        if len(mine) * len(theirs) <= MOST_CROSSED:
            found.append(cross_keys(number, mine, theirs))
    return salt_keys(np.concatenate(found), CROSSED)
