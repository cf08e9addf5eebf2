"""The hierarchical attention network (HAN, Yang et al. 2016): words, sentences, document.

    h(i, t) = words(x(i, t))                              within sentence i
    s(i)    = Σₜ α(i, t)·h(i, t),  α = softmaxₜ(query · tanh(W·h(i, t) + b))
    v       = Σᵢ β(i)·g(i),        g = sentences(s),  β likewise over sentences
    logits  = V·v + b

In HAN s(i) is independent of the other sentences. In the context-aware network (Remy et al. 2019)
the attention to its words depends on the preceding sentences, and optionally, in a second sweep
from the end, on the following ones; s(i) is then the mean of both sweeps.

    c(i) = Σ or mean over j < i of s(j),   α = softmaxₜ(query · tanh(W·h(i, t) + W_c·c(i) + b))

A batch has flat rows ``[CLS] words [SEP] words [SEP]``. They are unfolded into sentences, which are
batched by length, and folded into documents again. Separators and padding have no effect.
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
LONGER = 2.0  # maximum ratio of the longest to the shortest sentence of a group
SHORT = 8  # sentences of up to this many words may share a group


class Unfolded(NamedTuple):
    """The sentences of a batch, in order."""

    ids: Int[Tensor, "sentence position"]
    at: Int[Tensor, "sentence position"]
    """Position of each word in the row of its document; 0 for padding."""
    lengths: Int[Tensor, " sentence"]
    document: Int[Tensor, " sentence"]
    """Number of each sentence's document."""
    place: Int[Tensor, " sentence"]
    """Number of each sentence in its document."""
    counts: Int[Tensor, " document"]
    """Number of sentences of each document."""


class Separators(NamedTuple):
    """Special ids: the first of a row, and the last of a sentence."""

    begin: int
    end: int


class Context(NamedTuple):
    """Context-aware pooling: a forward sweep, and optionally a backward one."""

    onward: ContextPool
    back: ContextPool | None
    gather: Gather


class SentenceEncoder(NamedTuple):
    """Encoder of the sentence vectors."""

    stack: Stack | Bare
    place: Added | None


class Han(nn.Module):
    """Label logits of a document.

    Args:
        body: Encodes the words of one sentence.
        pool: Pools a sentence to one vector, with context or without.
        upper: Encodes the vectors of a document's sentences.
        head: Pools the sentences, and returns one logit per label.
        separators: Special ids of a row.

    """

    def __init__(
        self,
        body: Body,
        pool: AttentionPool | Context,
        upper: SentenceEncoder,
        head: LabelHead,
        *,
        separators: Separators,
    ) -> None:
        super().__init__()
        self.body, self.head, self.separators = body, head, separators
        self.sentences, self.place = upper
        context = None if isinstance(pool, AttentionPool) else pool
        self.pool = pool if isinstance(pool, AttentionPool) else pool.onward
        self.pool_back = context.back if context else None
        self.gather: Gather = context.gather if context else "sum"
        self.word_weights = Tap()
        """Axes: sentence, position."""

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        lengths: Int[Tensor, " batch"],
        segments: None = None,
    ) -> Float[Tensor, "batch label"]:
        """Return the logits of all labels; for a document without words, the biases."""
        unfolded = unfold(ids, lengths, separators=self.separators)
        vectors = self.vectors(unfolded)
        documents = _fold(vectors, unfolded)
        visible = padding(unfolded.counts, documents.shape[1])
        if self.place is not None:
            documents = self.place(documents, start=0, at=None)
        return self.head(self.sentences(documents, visible=visible), visible=visible)

    def vectors(self, unfolded: Unfolded) -> Float[Tensor, "sentence width"]:
        """Return a vector for each sentence."""
        if not len(unfolded.ids):
            return self.head.to_logits.weight.new_zeros(0, self.head.to_logits.in_features)
        states = self._encode(unfolded)
        if isinstance(self.pool, AttentionPool):
            visible = padding(unfolded.lengths, states.shape[1])
            mixed, weights = self.pool.attend(states, visible=visible)
            self.word_weights(weights[:, 0, 0])
            return mixed[:, 0, 0]
        vectors, weights = self._sweep(self.pool, states, unfolded, back=False)
        if self.pool_back is not None:
            other = self._sweep(self.pool_back, states, unfolded, back=True)
            vectors, weights = (vectors + other[0]) / 2, (weights + other[1]) / 2
        self.word_weights(weights)
        return vectors

    def _encode(self, unfolded: Unfolded) -> Float[Tensor, "sentence position width"]:
        """Return the states of all words; sentences are batched by length."""
        encoded, groups = [], list(group_by_length(unfolded))
        for rows in groups:
            longest = int(unfolded.lengths[rows].max())
            visible = padding(unfolded.lengths[rows], longest)
            states = self.body(unfolded.ids[rows, :longest], visible=visible)
            missing = unfolded.ids.shape[1] - longest
            encoded.append(nn.functional.pad(states, (0, 0, 0, missing)))
        return torch.cat(encoded)[torch.cat(groups).argsort()]

    def _sweep(
        self,
        pool: ContextPool,
        states: Float[Tensor, "sentence position width"],
        unfolded: Unfolded,
        *,
        back: bool,
    ) -> tuple[Float[Tensor, "sentence width"], Float[Tensor, "sentence position"]]:
        """Pool the sentences of every document in turn, with the earlier ones as context."""
        rows = [_rows_at(unfolded, n) for n in range(int(unfolded.counts.max()))]
        before = states.new_zeros(len(unfolded.counts), states.shape[2])
        count = states.new_zeros(len(unfolded.counts), 1)
        found, weights = [], []
        turns = rows[::-1] if back else rows
        for at in turns:
            documents = unfolded.document[at]
            context = before[documents]
            if self.gather == "mean":
                context = context / count[documents].clamp(min=1)
            visible = padding(unfolded.lengths[at], states.shape[1])
            attended = pool.attend(states[at], visible=visible, context=context)
            found.append(attended.mixed[:, 0, 0])
            weights.append(attended.weights[:, 0, 0])
            before = before.index_add(0, documents, found[-1])
            count = count.index_add(0, documents, count.new_ones(len(at), 1))
        home = torch.cat(turns).argsort()
        return torch.cat(found)[home], torch.cat(weights)[home]


def unfold(
    ids: Int[Tensor, "batch position"], lengths: Int[Tensor, " batch"], *, separators: Separators
) -> Unfolded:
    """Split rows into sentences, without empty ones."""
    batch, positions = ids.shape
    ends = ids == separators.end
    real = torch.arange(positions, device=ids.device) < lengths[:, None]
    words = real & ~ends & (ids != separators.begin)
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


def _fold(
    vectors: Float[Tensor, "sentence width"], unfolded: Unfolded
) -> Float[Tensor, "document place width"]:
    most = max(1, int(unfolded.counts.max()))
    documents = vectors.new_zeros(len(unfolded.counts), most, vectors.shape[1])
    return documents.index_put((unfolded.document, unfolded.place), vectors)


def _rows_at(unfolded: Unfolded, place: int) -> Int[Tensor, " row"]:
    return (unfolded.place == place).nonzero()[:, 0]


def group_by_length(unfolded: Unfolded) -> Iterator[Int[Tensor, " row"]]:
    """Group sentences of similar length, shortest first."""
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
