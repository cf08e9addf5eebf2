"""Pairs of spans, and the question whether B follows A, or whether they stand in order.

    run             sentences of one document that fill a row, at least two of them
    pair            [CLS] A [SEP] B [SEP]: a run cut between two sentences, drawn each time
    next-sentence   half the B are sentences of another document instead     (Devlin et al. 2019)
    sentence-order  half the pairs are B A instead                           (Lan et al. 2020)

Nothing but the text must tell which half a pair is of: a foreign B consists of whole sentences, of
about as many tokens as the B whose place it takes. Documents of one sentence make no pair, as they
could only ever be the wrong half.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.spans import Plain
from regard.data.stream import AnyStream, Stream
from regard.errors import DataError
from regard.text.special import CLS, PAD, SEP

Kind = Literal["next-sentence", "sentence-order"]
Ids = NDArray[np.int64]

FRAME = 3  # [CLS] and twice [SEP]
STRANGERS = 4  # runs among which a foreign B is looked for


class _Fit(NamedTuple):
    """Sentences, and by how many tokens they are too long or too short."""

    misfit: int
    first: int
    stop: int


class Pair(NamedTuple):
    """Two spans and whether they belong together in this order."""

    first: Ids
    second: Ids
    label: int


class SentencePairs:
    """Runs of sentences, by number.

    Args:
        ids: All documents one after another.
        sentences: Tokens of each sentence, one after another.
        documents: Sentences of each document.
        longest: Tokens in one row, special ones included.
        kind: What is asked of a pair.

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
        # What of a sentence is read: half a row at most, so that any two fit into one.
        self.read = np.minimum(self.sizes, self.room // 2)
        self.runs = _runs(self.read, documents, self.room)
        ends = documents.cumsum()
        self.documents = np.searchsorted(ends, self.runs[:, 0], side="right")
        read = np.concatenate([[0], self.read.cumsum()])
        self._lengths = read[self.runs.sum(axis=1)] - read[self.runs[:, 0]] + FRAME
        self._check()

    def __len__(self) -> int:
        return len(self.runs)

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of the rows of these runs."""
        return self._lengths[numbers, None]

    def stream(self, *, seed: int, batch_tokens: int) -> AnyStream:
        """Say which runs come at which step, those of about one length together."""
        return Stream(self, seed=seed, batch_tokens=batch_tokens)

    def every(self) -> NDArray[np.int64]:
        """Every run once."""
        return np.arange(len(self.runs))

    def rows(self, numbers: NDArray[np.int64], rng: np.random.Generator) -> Plain:
        """Make a pair of each of these runs."""
        return framed([self.pair(int(number), rng) for number in numbers])

    def pair(self, number: int, rng: np.random.Generator) -> Pair:
        """Cut a run in two, and perhaps make the pair wrong."""
        first, count = self.runs[number]
        cut = int(first + rng.integers(1, count))
        a, b = self._span(int(first), cut), self._span(cut, int(first + count))
        if rng.random() < 0.5:
            return Pair(a, b, 1)
        if self.kind == "sentence-order":
            return Pair(b, a, 0)
        return Pair(a, self._foreign(number, len(b), self.room - len(a), rng), 0)

    def _span(self, first: int, stop: int) -> Ids:
        """Ids of the sentences from ``first`` to before ``stop``."""
        parts = [
            self.ids[self.begins[n] : self.begins[n] + self.read[n]] for n in range(first, stop)
        ]
        return np.concatenate(parts).astype(np.int64)

    def _foreign(self, number: int, wanted: int, room: int, rng: np.random.Generator) -> Ids:
        """Take sentences of another document, of as nearly ``wanted`` tokens as some have."""
        mine = self.documents[number]
        low, high = np.searchsorted(self.documents, [mine, mine + 1])
        drawn = rng.integers(len(self.runs) - (high - low), size=STRANGERS)
        fits = [
            self._fit(
                *self.runs[n if n < low else n + high - low].tolist(), wanted=wanted, room=room
            )
            for n in drawn.tolist()
        ]
        best = min(fits)
        # Should no sentence be short enough, the end of one is left out.
        return self._span(best.first, best.stop)[:room]

    def _fit(self, first: int, count: int, *, wanted: int, room: int) -> "_Fit":
        """Choose those of a run's sentences that come nearest to ``wanted`` tokens."""
        read = np.concatenate([[0], self.read[first : first + count].cumsum()])
        lengths = read[None, :] - read[:, None]  # of the sentences from one to before another
        misfits = np.abs(lengths - wanted) + np.where(lengths > room, self.room, 0)
        misfits[lengths <= 0] = 3 * self.room
        begin, stop = np.unravel_index(misfits.argmin(), misfits.shape)
        return _Fit(int(misfits[begin, stop]), int(first + begin), int(first + stop))

    def _check(self) -> None:
        if not len(self.runs):
            raise DataError(
                "pairs are made of documents of at least two sentences. Got none.",
                'Put blank lines between documents only, or set pretraining.pairs to "none".',
            )
        if self.kind == "next-sentence" and self.documents[0] == self.documents[-1]:
            raise DataError(
                "next-sentence takes wrong sentences from another document. Got one document of "
                "two sentences or more.",
                'Give several documents, blank lines between them, or ask for "sentence-order".',
            )


def framed(pairs: list[Pair]) -> Plain:
    """Put pairs side by side as [CLS] A [SEP] B [SEP]."""
    lengths = np.array([len(a) + len(b) + FRAME for a, b, _ in pairs], dtype=np.int64)
    ids = np.full((len(pairs), int(lengths.max(initial=0))), PAD, dtype=np.int64)
    segments = np.zeros_like(ids)
    for row, segment, (a, b, _) in zip(ids, segments, pairs, strict=True):
        end = len(a) + len(b) + FRAME
        row[:end] = np.concatenate([[CLS], a, [SEP], b, [SEP]])
        segment[len(a) + 2 : end] = 1
    return Plain(ids, lengths, segments, np.array([pair.label for pair in pairs]))


def _runs(read: Ids, documents: Ids, room: int) -> Ids:
    """Fill rows with whole sentences, document by document: (first sentence, how many)."""
    runs: list[tuple[int, int]] = []
    lengths, at = read.tolist(), 0
    for count in documents.tolist():
        first, used, end = at, 0, at + count
        for sentence in range(at, end):
            if used + lengths[sentence] > room:
                runs.append((first, sentence - first))
                first, used = sentence, 0
            used += lengths[sentence]
        runs.append((first, end - first))
        at = end
    return np.array([run for run in runs if run[1] > 1], dtype=np.int64).reshape(-1, 2)
