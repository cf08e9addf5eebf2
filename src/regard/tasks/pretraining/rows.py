"""Batches of masked pretraining: masking rows of ids, and naming the fields."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, Padded
from regard.data.corruption import choose_tokens, choose_words, corrupt, find_maskable
from regard.data.spans import IGNORED, SpanRows
from regard.text.special import MASK


class Rows(NamedTuple):
    """The fields of a batch by name."""

    ids: Int[Tensor, "row position"]
    """The input: some tokens masked or replaced."""
    lengths: Int[Tensor, " row"]
    targets: Int[Tensor, "row position"]
    """The token to predict at each position; -1 for none."""
    segments: Int[Tensor, "row position"]
    """The span of each token."""
    labels: Int[Tensor, " row"]
    """Whether a row's spans belong together in this order: 1 or 0; -1 without pairs."""
    forward_only: Bool[Tensor, " row"]
    """Whether a row is causal, and each position predicts the next."""
    seed: int
    """For random choices of the loss."""

    @property
    def has_target(self) -> Bool[Tensor, "row position"]:
        """Positions that have a target."""
        return self.targets >= 0

    @property
    def tokens(self) -> int:
        """How many tokens the input has."""
        return int(self.lengths.sum())

    @property
    def original(self) -> Int[Tensor, "row position"]:
        """The ids before masking; undefined for causal rows."""
        return torch.where(self.has_target, self.targets, self.ids)


class Masking(NamedTuple):
    """How rows are masked."""

    share: float
    masked_as: tuple[float, float, float]
    tokens: int
    """Size of the vocabulary that replacements are drawn from."""
    begins: NDArray[np.bool_] | None = None
    """Which tokens begin a word, for whole-word masking."""
    causal_share: float = 0.0
    """Share of the rows that are causal."""


def mask_rows(rows: SpanRows, masking: Masking, rng: np.random.Generator) -> Batch:
    """Make a batch: mask some tokens of every row; in causal rows, each token predicts the next."""
    ids = rows.ids
    if masking.begins is None:
        chosen = choose_tokens(find_maskable(ids), share=masking.share, rng=rng)
    else:
        chosen = choose_words(ids, masking.begins, share=masking.share, rng=rng)
    shown = corrupt(ids, chosen, masked_as=masking.masked_as, tokens=masking.tokens, rng=rng)
    targets = np.where(chosen, ids, IGNORED)
    forward = rng.permutation(len(ids)) < _some(masking.causal_share * len(ids), rng)
    following = np.full_like(ids, IGNORED)
    following[:, :-1] = ids[:, 1:]
    following[np.arange(ids.shape[1]) + 1 >= rows.lengths[:, None]] = IGNORED
    shown = np.where(forward[:, None], ids, shown)
    targets = np.where(forward[:, None], following, targets)
    marks = np.stack([rows.labels, forward, np.full(len(ids), rng.integers(2**62))], axis=1)
    return _batch(shown, rows, targets, marks)


def predict_masks(rows: SpanRows) -> Batch:
    """Make a batch in which every [MASK] of the rows is a target."""
    targets = np.where(rows.ids == MASK, MASK, IGNORED)
    marks = np.stack([rows.labels, np.zeros_like(rows.labels), np.zeros_like(rows.labels)], axis=1)
    return _batch(rows.ids, rows, targets, marks)


def rows_of(batch: Batch) -> Rows:
    """Name the fields of a batch."""
    shown, targets, segments, marks = batch.fields
    labels, forward, seeds = marks.ids.T
    seed = int(seeds[0]) if len(seeds) else 0
    return Rows(shown.ids, shown.lengths, targets.ids, segments.ids, labels, forward.bool(), seed)


def _batch(
    shown: NDArray[np.int64], rows: SpanRows, targets: NDArray[np.int64], marks: NDArray[np.int64]
) -> Batch:
    lengths = torch.from_numpy(rows.lengths)
    fields = (shown, targets, rows.segments)
    own = torch.full((len(shown),), marks.shape[1])
    return Batch(
        (
            *(Padded(torch.from_numpy(f), lengths) for f in fields),
            Padded(torch.from_numpy(marks), own),
        ),
        np.arange(len(shown)),
    )


def _some(expected: float, rng: np.random.Generator) -> int:
    """Round up or down at random, without bias."""
    return int(np.floor(expected + rng.random()))
