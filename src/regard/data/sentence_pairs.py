"""Pairs of spans for next-sentence and sentence-order prediction.

    chunk           at least two consecutive sentences of one document that fill a row
    pair            [CLS] A [SEP] B [SEP]: a chunk split between two sentences, drawn each time
    next-sentence   for half the pairs, B is from another document            (Devlin et al. 2019)
    sentence-order  half the pairs are swapped: B A                           (Lan et al. 2020)

The label must not be predictable from anything but the text. So a negative B consists of whole
sentences with about as many tokens as the B it replaces, and documents of one sentence, which could
only be negatives, are not used.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.spans import SpanRows
from regard.data.stream import AnyStream, Stream
from regard.errors import DataError
from regard.text.special import CLS, PAD, SEP

Kind = Literal["next-sentence", "sentence-order"]
Ids = NDArray[np.int64]

FRAME = 3  # [CLS] and two [SEP]
CANDIDATES = 4  # chunks among which a negative B is sought


class _Fit(NamedTuple):
    """A range of sentences, and how far its length is from the wanted one."""

    misfit: int
    first: int
    stop: int


class SpanPair(NamedTuple):
    """Two spans; the label is 1 if the second follows the first."""

    first: Ids
    second: Ids
    label: int


class SentencePairs:
    """Pairs of spans, by the number of their chunk.

    Args:
        ids: All documents, concatenated.
        sentences: Tokens of each sentence, in order.
        documents: Sentences of each document.
        longest: Tokens in one row, special ones included.
        kind: What the label of a pair says.

    """

    def __init__(
        self,
        ids: NDArray[np.uint32],
        sentences: NDArray[np.uint32],
        documents: Ids,
        *,
        longest: int,
        kind: Kind,
    ) -> None:
        self.ids, self.kind = ids, kind
        self.room = max(2, longest - FRAME)
        self.sizes = sentences.astype(np.int64)
        self.begins = np.concatenate([[0], self.sizes.cumsum()])
        # At most half a row is read of each sentence, so that any two fit into a row.
        self.read = np.minimum(self.sizes, self.room // 2)
        self.chunks = _cut_chunks(self.read, documents, self.room)
        ends = documents.cumsum()
        self.documents = np.searchsorted(ends, self.chunks[:, 0], side="right")
        read = np.concatenate([[0], self.read.cumsum()])
        self._lengths = read[self.chunks.sum(axis=1)] - read[self.chunks[:, 0]] + FRAME
        self._check()

    def __len__(self) -> int:
        return len(self.chunks)

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tokens of the rows of these chunks."""
        return self._lengths[numbers, None]

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Return a stream of chunk numbers; a batch has chunks of similar length."""
        return Stream(self, seed=seed, batch_tokens=batch_tokens)

    def list_rows(self) -> NDArray[np.int64]:
        """Return the numbers of all chunks."""
        return np.arange(len(self.chunks))

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> SpanRows:
        """Draw a pair from each of these chunks."""
        return frame_pairs([self.pair(int(number), rng) for number in numbers])

    def pair(self, number: int, rng: np.random.Generator) -> SpanPair:
        """Split a chunk in two; make a negative pair of every other one."""
        first, count = self.chunks[number]
        cut = int(first + rng.integers(1, count))
        a, b = self._read_span(int(first), cut), self._read_span(cut, int(first + count))
        if rng.random() < 0.5:
            return SpanPair(a, b, 1)
        if self.kind == "sentence-order":
            return SpanPair(b, a, 0)
        return SpanPair(a, self._draw_negative(number, len(b), self.room - len(a), rng), 0)

    def _read_span(self, first: int, stop: int) -> Ids:
        """Return the ids of the sentences from ``first`` to before ``stop``."""
        parts = [
            self.ids[self.begins[n] : self.begins[n] + self.read[n]] for n in range(first, stop)
        ]
        return np.concatenate(parts).astype(np.int64)

    def _draw_negative(self, number: int, wanted: int, room: int, rng: np.random.Generator) -> Ids:
        """Draw sentences of another document with about ``wanted`` tokens."""
        mine = self.documents[number]
        low, high = np.searchsorted(self.documents, [mine, mine + 1])
        drawn = rng.integers(len(self.chunks) - (high - low), size=CANDIDATES)
        fits = [
            self._fit(
                *self.chunks[n if n < low else n + high - low].tolist(), wanted=wanted, room=room
            )
            for n in drawn.tolist()
        ]
        best = min(fits)
        # If no sentence is short enough, one is truncated.
        return self._read_span(best.first, best.stop)[:room]

    def _fit(self, first: int, count: int, *, wanted: int, room: int) -> "_Fit":
        """Choose the range of a chunk's sentences whose length is nearest to ``wanted``."""
        read = np.concatenate([[0], self.read[first : first + count].cumsum()])
        lengths = read[None, :] - read[:, None]  # of every range of sentences
        misfits = np.abs(lengths - wanted) + np.where(lengths > room, self.room, 0)
        misfits[lengths <= 0] = 3 * self.room
        begin, stop = np.unravel_index(misfits.argmin(), misfits.shape)
        return _Fit(int(misfits[begin, stop]), int(first + begin), int(first + stop))

    def _check(self) -> None:
        if not len(self.chunks):
            raise DataError(
                "sentence pairs need documents of at least two sentences. Got none.",
                'Put blank lines only between documents, or set pretraining.pairs to "none".',
            )
        if self.kind == "next-sentence" and self.documents[0] == self.documents[-1]:
            raise DataError(
                "next-sentence draws negatives from other documents. Got one document of at least "
                "two sentences.",
                'Add documents, separated by blank lines, or set "sentence-order".',
            )


def frame_pairs(pairs: list[SpanPair]) -> SpanRows:
    """Pad pairs to rows [CLS] A [SEP] B [SEP]."""
    lengths = np.array([len(a) + len(b) + FRAME for a, b, _ in pairs], dtype=np.int64)
    ids = np.full((len(pairs), int(lengths.max(initial=0))), PAD, dtype=np.int64)
    segments = np.zeros_like(ids)
    for row, segment, (a, b, _) in zip(ids, segments, pairs, strict=True):
        end = len(a) + len(b) + FRAME
        row[:end] = np.concatenate([[CLS], a, [SEP], b, [SEP]])
        segment[len(a) + 2 : end] = 1
    return SpanRows(ids, lengths, segments, np.array([pair.label for pair in pairs]))


def _cut_chunks(read: Ids, documents: Ids, room: int) -> Ids:
    """Cut documents into chunks that fit a row: (first sentence, number of sentences)."""
    chunks: list[tuple[int, int]] = []
    lengths, at = read.tolist(), 0
    for count in documents.tolist():
        first, used, end = at, 0, at + count
        for sentence in range(at, end):
            if used + lengths[sentence] > room:
                chunks.append((first, sentence - first))
                first, used = sentence, 0
            used += lengths[sentence]
        chunks.append((first, end - first))
        at = end
    return np.array([chunk for chunk in chunks if chunk[1] > 1], dtype=np.int64).reshape(-1, 2)
