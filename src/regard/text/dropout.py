"""BPE-dropout: words cut another way each time, by leaving merges out (Provilkov et al., 2020).

At every step the merges possible in a word are put in order of rank, and each is left out with
probability ``share``; the first that is not is made, and when all are left out the word is done.
So the number of the merge made is geometric,

    P(merge k is made) = share^k (1 - share),        P(none of m) = share^m,

and one draw decides each step. A state of a word leads to the same few states always, so these are
found once; from then on a word costs a look-up per step. With ``share = 0`` every draw is 0 and
the result is plain BPE, token for token. The library's own dropout cannot be seeded; this one is a
function of its generator.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from regard.text.layout import BYTES
from regard.text.tokenizer import Tokenizer

_LONGEST_WORD = 64  # bytes; a longer "word" has too many states, and begins in its last one
_MOST_NODES = 300_000  # some 150 MB
_DRAWS = 4096

# No token reaches across such a place, whatever stands on either side.
_BEFORE_SPACE = re.compile(r"(?<=\S)(?= )")


class _Node:
    """A state of a word and the merges possible in it: (place, token), or, once made, a node."""

    __slots__ = ("following", "ids")

    def __init__(self, ids: tuple[int, ...]) -> None:
        self.ids = ids
        self.following: list[_Node | tuple[int, int]] | None = None


class BpeDropout:
    """Cuts texts with some merges left out.

    Args:
        tokenizer: Whose merges they are; its kind must be ``bpe``.
        share: The share of merges left out, from 0 to below 1.

    """

    def __init__(self, tokenizer: Tokenizer, share: float) -> None:
        if tokenizer.kind != "bpe":
            raise ValueError(f"BPE-dropout needs merges to leave out; {tokenizer.kind} has none.")
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
        """Cut texts anew; equal generators give equal pieces."""
        draws = self._draws(rng)
        return [
            [id for node in self._start(text) for id in self._cut(node, draws)] for text in texts
        ]

    def recut(self, rows: Sequence[Sequence[int]], rng: np.random.Generator) -> list[list[int]]:
        """Cut texts anew that are known by their ids, special ones left out."""
        return self(self._tokenizer.decode_batch(rows), rng)

    def _draws(self, rng: np.random.Generator) -> Iterator[int]:
        while True:
            yield from (rng.geometric(1.0 - self._share, size=_DRAWS) - 1).tolist()

    def _start(self, text: str) -> list[_Node]:
        """Begin with every word of a text in single bytes."""
        if len(self._nodes) > _MOST_NODES:
            self._nodes.clear()
            self._words.clear()
        nodes: list[_Node] = []
        for chunk in _BEFORE_SPACE.split(self._tokenizer.normalized(text)):
            found = self._words.get(chunk)
            if found is None:
                words = self._tokenizer.spelled_words(chunk)
                found = self._words[chunk] = [self._node(self._spelled(word)) for word in words]
            nodes += found
        return nodes

    def _spelled(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return tuple(self._tokenizer.word_ids(word))
        return tuple(map(self._byte_ids.__getitem__, word))

    def _cut(self, node: _Node, draws: Iterator[int]) -> tuple[int, ...]:
        while True:
            following = node.following
            if following is None:
                following = node.following = self._possible(node.ids)
            if not following or (number := next(draws)) >= len(following):
                return node.ids
            step = following[number]
            if isinstance(step, tuple):
                at, joined = step
                step = self._node((*node.ids[:at], joined, *node.ids[at + 2 :]))
                following[number] = step
            node = step

    def _possible(self, ids: tuple[int, ...]) -> list[_Node | tuple[int, int]]:
        """List the merges possible, best rank first and leftmost first among equals."""
        possible = sorted(
            (self._merges[pair][0], at, self._merges[pair][1])
            for at, pair in enumerate(pairwise(ids))
            if pair in self._merges
        )
        return [(at, joined) for _, at, joined in possible]

    def _node(self, ids: tuple[int, ...]) -> _Node:
        """Meet again the node of a state known already: many ways lead to it."""
        return self._nodes.setdefault(ids, _Node(ids))


def split(
    tokenizer: Tokenizer, texts: Sequence[str], share: float, rng: np.random.Generator
) -> list[list[int]]:
    """Cut texts once; keep a :class:`BpeDropout` where it is done again and again."""
    return BpeDropout(tokenizer, share)(texts, rng)
