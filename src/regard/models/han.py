"""The hierarchical attention network (Yang et al. 2016): words, sentences, document.

    h(i, t) = words(x(i, t))                              within sentence i
    s(i)    = Σₜ α(i, t)·h(i, t),  α = softmaxₜ(query · tanh(W·h(i, t) + b))
    v       = Σᵢ β(i)·g(i),        g = sentences(s),  β likewise over sentences
    logits  = V·v + b

Sentence i is read alone: s(i) feels no other sentence. The context-aware network (Remy et al. 2019)
lets the sentences before it decide where it is looked at, one after another, and if asked also
those after it, in a second sweep from the end; s(i) is then the mean of what both sweeps saw.

    c(i) = Σ or mean over j < i of s(j),   α = softmaxₜ(query · tanh(W·h(i, t) + W_c·c(i) + b))

A batch is flat rows ``[CLS] words [SEP] words [SEP]``; its sentences are unfolded, read side by
side in groups of about the same length, and folded into documents again. Neither the marks nor
padding are felt.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.context import ContextPool
from regard.layers.pooling import AttentionPool
from regard.layers.position import Added
from regard.layers.tap import Tap
from regard.layers.visibility import padding
from regard.models.body import Body
from regard.models.heads import LabelHead
from regard.models.stack import Bare, Stack

Gather = Literal["sum", "mean"]
LONGER = 2.0  # times as long as the shortest of a group may its longest sentence be
SHORT = 8  # words up to which sentences are of about the same length


class Unfolded(NamedTuple):
    """The sentences of a batch, those of a document after one another."""

    ids: Int[Tensor, "sentence position"]
    at: Int[Tensor, "sentence position"]
    """At which position of its document's row each word stands; 0 beyond a sentence's end."""
    lengths: Int[Tensor, " sentence"]
    document: Int[Tensor, " sentence"]
    """Which document each sentence stands in."""
    place: Int[Tensor, " sentence"]
    """And as which one there."""
    counts: Int[Tensor, " document"]
    """Sentences of each document."""


class Marks(NamedTuple):
    """Ids that are no words: what begins a row, and what ends a sentence."""

    begin: int
    end: int


class Context(NamedTuple):
    """How sentences are looked at by what others say: one sweep on, and perhaps one back."""

    onward: ContextPool
    back: ContextPool | None
    gather: Gather


class Upper(NamedTuple):
    """What reads the vectors of sentences."""

    stack: Stack | Bare
    place: Added | None


class Han(nn.Module):
    """Which label a document has.

    Args:
        body: Reads the words of one sentence.
        pool: Makes one vector of a sentence: alone, or by context.
        upper: Reads the vectors of a document's sentences.
        head: Looks at the sentences, and says one logit per label.
        marks: What begins a row and ends a sentence.

    """

    def __init__(
        self,
        body: Body,
        pool: AttentionPool | Context,
        upper: Upper,
        head: LabelHead,
        *,
        marks: Marks,
    ) -> None:
        super().__init__()
        self.body, self.head, self.marks = body, head, marks
        self.sentences, self.place = upper
        context = None if isinstance(pool, AttentionPool) else pool
        self.pool = pool if isinstance(pool, AttentionPool) else pool.onward
        self.pool_back = context.back if context else None
        self.gather: Gather = context.gather if context else "sum"
        self.word_weights = Tap()
        """Axes: sentence, position. Sentences of a document after one another."""

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        lengths: Int[Tensor, " batch"],
        segments: None = None,
    ) -> Float[Tensor, "batch label"]:
        """Logits of every label; a document without a word has those of the biases alone."""
        unfolded = unfold(ids, lengths, marks=self.marks)
        vectors = self.vectors(unfolded)
        documents = _folded(vectors, unfolded)
        visible = padding(unfolded.counts, documents.shape[1])
        if self.place is not None:
            documents = self.place(documents, start=0, at=None)
        return self.head(self.sentences(documents, visible=visible), visible=visible)

    def vectors(self, unfolded: Unfolded) -> Float[Tensor, "sentence width"]:
        """One vector for each sentence."""
        if not len(unfolded.ids):
            return self.head.to_logits.weight.new_zeros(0, self.head.to_logits.in_features)
        states = self._read(unfolded)
        if isinstance(self.pool, AttentionPool):
            visible = padding(unfolded.lengths, states.shape[1])
            mixed, weights = self.pool.look(states, visible=visible)
            self.word_weights(weights[:, 0, 0])
            return mixed[:, 0, 0]
        vectors, weights = self._sweep(self.pool, states, unfolded, back=False)
        if self.pool_back is not None:
            other = self._sweep(self.pool_back, states, unfolded, back=True)
            vectors, weights = (vectors + other[0]) / 2, (weights + other[1]) / 2
        self.word_weights(weights)
        return vectors

    def _read(self, unfolded: Unfolded) -> Float[Tensor, "sentence position width"]:
        """States of all words; sentences are read with others of about the same length."""
        read, groups = [], list(side_by_side(unfolded))
        for rows in groups:
            longest = int(unfolded.lengths[rows].max())
            visible = padding(unfolded.lengths[rows], longest)
            states = self.body(unfolded.ids[rows, :longest], visible=visible)
            missing = unfolded.ids.shape[1] - longest
            read.append(nn.functional.pad(states, (0, 0, 0, missing)))
        return torch.cat(read)[torch.cat(groups).argsort()]

    def _sweep(
        self,
        pool: ContextPool,
        states: Float[Tensor, "sentence position width"],
        unfolded: Unfolded,
        *,
        back: bool,
    ) -> tuple[Float[Tensor, "sentence width"], Float[Tensor, "sentence position"]]:
        """Look at one sentence of every document after another, by those looked at before."""
        rows = [_rows_at(unfolded, n) for n in range(int(unfolded.counts.max()))]
        before = states.new_zeros(len(unfolded.counts), states.shape[2])
        seen = states.new_zeros(len(unfolded.counts), 1)
        found, weights = [], []
        turns = rows[::-1] if back else rows
        for at in turns:
            documents = unfolded.document[at]
            context = before[documents]
            if self.gather == "mean":
                context = context / seen[documents].clamp(min=1)
            visible = padding(unfolded.lengths[at], states.shape[1])
            looked = pool.look(states[at], visible=visible, context=context)
            found.append(looked.mixed[:, 0, 0])
            weights.append(looked.weights[:, 0, 0])
            before = before.index_add(0, documents, found[-1])
            seen = seen.index_add(0, documents, seen.new_ones(len(at), 1))
        home = torch.cat(turns).argsort()
        return torch.cat(found)[home], torch.cat(weights)[home]


def unfold(
    ids: Int[Tensor, "batch position"], lengths: Int[Tensor, " batch"], *, marks: Marks
) -> Unfolded:
    """Take rows apart into sentences; one without words is none."""
    batch, positions = ids.shape
    ends = ids == marks.end
    real = torch.arange(positions, device=ids.device) < lengths[:, None]
    words = real & ~ends & (ids != marks.begin)
    number = torch.arange(batch, device=ids.device)[:, None] * (positions + 1) + ends.cumsum(1)
    found, sentence, counts = number[words].unique_consecutive(
        return_inverse=True, return_counts=True
    )
    first = counts.cumsum(0) - counts
    within = torch.arange(len(sentence), device=ids.device) - first[sentence]
    longest = int(counts.max()) if len(counts) else 0
    table, at = ids.new_zeros(2, len(found), longest)
    table[sentence, within] = ids[words]
    at[sentence, within] = words.nonzero()[:, 1]
    document = found.div(positions + 1, rounding_mode="floor")
    many = document.bincount(minlength=batch)
    begins = many.cumsum(0) - many
    place = torch.arange(len(found), device=ids.device) - begins[document]
    return Unfolded(table, at, counts, document, place, many)


def _folded(
    vectors: Float[Tensor, "sentence width"], unfolded: Unfolded
) -> Float[Tensor, "document place width"]:
    most = max(1, int(unfolded.counts.max()))
    documents = vectors.new_zeros(len(unfolded.counts), most, vectors.shape[1])
    return documents.index_put((unfolded.document, unfolded.place), vectors)


def _rows_at(unfolded: Unfolded, place: int) -> Int[Tensor, " row"]:
    return (unfolded.place == place).nonzero()[:, 0]


def side_by_side(unfolded: Unfolded) -> Iterator[Int[Tensor, " row"]]:
    """Group sentences as they are read, shortest first, none much longer than its group's first."""
    order = unfolded.lengths.argsort(stable=True)
    for begin, end in pairwise(_cuts(unfolded.lengths[order].tolist())):
        yield order[begin:end]


def _cuts(lengths: Sequence[int]) -> list[int]:
    cuts, shortest = [0], max(lengths[0], SHORT)
    for at, length in enumerate(lengths):
        if length > LONGER * shortest:
            cuts.append(at)
            shortest = length
    return [*cuts, len(lengths)]
