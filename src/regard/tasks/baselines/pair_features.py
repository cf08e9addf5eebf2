"""What a bag of n-grams can see of two texts: what they share, and what only one of them has.

    bags      n-grams of A that B lacks, n-grams of B that A lacks, n-grams of both, and pairs of
              a word that only A has with a word that only B has
    numbers   for words, pairs, triples of words and for fours of characters:
              |A ∩ B| / |A ∪ B|, / |A|, / |B|;   and log |A|, log |B| and their distance

Each kind of bag has rows of its own, so "not" in A says another thing than "not" in B.
"""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from regard.tasks.baselines.hashed_ngrams import (
    BITS,
    LONGEST_RUN,
    Bags,
    Keys,
    WordHashes,
    bag_of_keys,
    chunks,
    joined,
    keys,
    run_keys,
    salted,
)

CHARACTERS = 4  # in a run of them
ONLY_A, ONLY_B, BOTH, CROSSED = range(1, 5)
MOST_CROSSED = 200  # pairs of words looked at in one pair of texts


def pair_features(pairs: Iterable[tuple[str, ...]]) -> tuple[Bags, NDArray[np.float32]]:
    """Bags and numbers of pairs, a chunk at a time."""
    hashes = WordHashes()
    bags, numbers = [], [np.zeros((0, 3 * (LONGEST_RUN + 1) + 3), np.float32)]
    for chunk in chunks(pairs):
        bag, told = _chunk(chunk, hashes)
        bags.append(bag)
        numbers.append(told)
    return joined(bags), np.concatenate(numbers)


def _chunk(
    pairs: Sequence[tuple[str, ...]], hashes: WordHashes
) -> tuple[Bags, NDArray[np.float32]]:
    count = len(pairs)
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    overlaps, found = [], []
    for longest in range(1, LONGEST_RUN + 1):
        a, b = (keys(side, hashes, longest=longest) for side in (firsts, seconds))
        overlaps.append(_overlap(a, b, count))
        if longest == 1:
            lengths = np.log1p(np.stack([_count(a, count), _count(b, count)], axis=1))
            found.append(_crossed(np.setdiff1d(a, b), np.setdiff1d(b, a), count))
    found += [
        salted(np.setdiff1d(a, b), ONLY_A),
        salted(np.setdiff1d(b, a), ONLY_B),
        salted(np.intersect1d(a, b), BOTH),
    ]
    overlaps.append(_overlap(_characters(firsts), _characters(seconds), count))
    distance = np.abs(lengths[:, :1] - lengths[:, 1:])
    numbers = np.concatenate([*overlaps, lengths, distance], axis=1).astype(np.float32)
    return bag_of_keys(np.unique(np.concatenate(found)), count), numbers


def _overlap(a: Keys, b: Keys, count: int) -> NDArray[np.float64]:
    """Shares of the union, of A and of B that both have."""
    mine, theirs = _count(a, count), _count(b, count)
    shared = _count(np.intersect1d(a, b), count)
    wholes = (mine + theirs - shared, mine, theirs)
    return np.stack([shared / np.maximum(whole, 1) for whole in wholes], axis=1)


def _count(found: Keys, count: int) -> NDArray[np.int64]:
    return np.bincount(found >> BITS, minlength=count)


def _characters(texts: Sequence[str]) -> Keys:
    """Find runs of characters, folded and spaced once."""
    folded = [" ".join(text.lower().split()) for text in texts]
    codes = np.frombuffer("".join(folded).encode("utf-32-le"), np.uint32).astype(np.uint64)
    # Spread out first: neighbouring codes would meet in the hash of a run.
    return run_keys(codes * np.uint64(0x9E3779B97F4A7C15), [*map(len, folded)], longest=CHARACTERS)


def _crossed(only_a: Keys, only_b: Keys, count: int) -> Keys:
    """Pairs of a word of A with a word of B, where the other text lacks both."""
    a, b = (bag_of_keys(only, count) for only in (only_a, only_b))
    found = []
    for number in range(count):
        mine = a.rows[a.offsets[number] : a.offsets[number + 1]].tolist()
        theirs = b.rows[b.offsets[number] : b.offsets[number + 1]].tolist()
        if len(mine) * len(theirs) <= MOST_CROSSED:
            found += [
                (number << BITS) | (x * 40_503 + y * 65_599 & (1 << BITS) - 1)
                for x, y in product(mine, theirs)
            ]
    return salted(np.asarray(found, dtype=np.int64), CROSSED)
