"""BPE-dropout: words are segmented at random, by skipping merges (Provilkov et al., 2020).

At every step the possible merges of a word are sorted by rank, and each is skipped with probability
``share``; the first one not skipped is applied, and if all are skipped the word is done. So the
index of the applied merge is geometric,

    P(merge k is applied) = share^k (1 - share),        P(none of m) = share^m,

and one draw decides each step. The possible merges of a state are computed once and cached; after
that a word costs one look-up per step. With ``share = 0`` every draw is 0 and the result is plain
BPE, token for token. The library's own dropout cannot be seeded; this one is a function of its
generator.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from regard.text.layout import BYTES
from regard.text.tokenizer import Tokenizer

_LONGEST_WORD = 64  # bytes; a longer "word" has too many states and is segmented as plain BPE
_MOST_NODES = 300_000  # about 150 MB
_DRAWS = 4096

# No token spans this boundary, whatever is on either side.
_BEFORE_SPACE = re.compile(r"(?<=\S)(?= )")


class _Node:
    """A state of a word; its possible merges are (index, token), or a node once applied."""

    __slots__ = ("following", "ids")

    def __init__(self, ids: tuple[int, ...]) -> None:
        self.ids = ids
        self.following: list[_Node | tuple[int, int]] | None = None


class BpeDropout:
    """Segments texts with random merges skipped.

    Args:
        tokenizer: Has the merges; its kind must be ``bpe``.
        share: Probability that a merge is skipped, from 0 to below 1.

    """

    def __init__(self, tokenizer: Tokenizer, share: float) -> None:
        if tokenizer.kind != "bpe":
            raise ValueError(
                f"BPE-dropout needs a tokenizer with merges; {tokenizer.kind} has none."
            )
        if not 0.0 <= share < 1.0:
            raise ValueError(f"share must be from 0 to below 1. Got {share}.")
        self._tokenizer = tokenizer
        self._share = share
        model: dict[str, Any] = json.loads(tokenizer.canonical)["model"]
        ids = model["vocab"]
        self._merges = {
            (ids[left], ids[right]): (rank, ids[left + right])
            for rank, (left, right) in enumerate(model["merges"])
        }
        self._byte_ids = {byte: ids[byte] for byte in BYTES}
        self._nodes: dict[tuple[int, ...], _Node] = {}
        self._words: dict[str, list[_Node]] = {}

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[list[int]]:
        """Segment texts at random; equal generators give equal tokens."""
        draws = self._draw_merges(rng)
        return [
            [id for node in self._split_words(text) for id in self._segment(node, draws)]
            for text in texts
        ]

    def resegment(self, rows: Sequence[Sequence[int]], rng: np.random.Generator) -> list[list[int]]:
        """Segment texts given as ids, without special tokens, again."""
        return self(self._tokenizer.decode_batch(rows), rng)

    def _draw_merges(self, rng: np.random.Generator) -> Iterator[int]:
        while True:
            yield from (rng.geometric(1.0 - self._share, size=_DRAWS) - 1).tolist()

    def _split_words(self, text: str) -> list[_Node]:
        """Split a text into words, each a node of single bytes."""
        if len(self._nodes) > _MOST_NODES:
            self._nodes.clear()
            self._words.clear()
        nodes: list[_Node] = []
        for chunk in _BEFORE_SPACE.split(self._tokenizer.normalize(text)):
            found = self._words.get(chunk)
            if found is None:
                words = self._tokenizer.split_words(chunk)
                found = self._words[chunk] = [self._get_node(self._spell(word)) for word in words]
            nodes += found
        return nodes

    def _spell(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return tuple(self._tokenizer.encode_word(word))
        return tuple(map(self._byte_ids.__getitem__, word))

    def _segment(self, node: _Node, draws: Iterator[int]) -> tuple[int, ...]:
        while True:
            following = node.following
            if following is None:
                following = node.following = self._list_merges(node.ids)
            if not following or (number := next(draws)) >= len(following):
                return node.ids
            step = following[number]
            if isinstance(step, tuple):
                at, joined = step
                step = self._get_node((*node.ids[:at], joined, *node.ids[at + 2 :]))
                following[number] = step
            node = step

    def _list_merges(self, ids: tuple[int, ...]) -> list[_Node | tuple[int, int]]:
        """List the possible merges, best rank first and leftmost first among equals."""
        possible = sorted(
            (self._merges[pair][0], at, self._merges[pair][1])
            for at, pair in enumerate(pairwise(ids))
            if pair in self._merges
        )
        return [(at, joined) for _, at, joined in possible]

    def _get_node(self, ids: tuple[int, ...]) -> _Node:
        """Return the node of a state; several merge orders lead to the same state."""
        return self._nodes.setdefault(ids, _Node(ids))
