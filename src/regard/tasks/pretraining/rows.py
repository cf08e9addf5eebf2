"""What a batch of pretraining holds, field by field, and how it is made of ids."""

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
    """Rows as a model is asked about them."""

    ids: Int[Tensor, "row position"]
    """What is shown: some tokens masked or replaced."""
    lengths: Int[Tensor, " row"]
    targets: Int[Tensor, "row position"]
    """What each place is to answer; -1 where nothing is asked."""
    segments: Int[Tensor, "row position"]
    """Which span each token belongs to."""
    labels: Int[Tensor, " row"]
    """Whether a row's spans belong together in this order: 1 or 0; -1 where it is not asked."""
    forward_only: Bool[Tensor, " row"]
    """Whether a row is read from its beginning, and each place answers for the next."""
    seed: int
    """For what the loss itself draws."""

    @property
    def has_target(self) -> Bool[Tensor, "row position"]:
        """Where there is a target."""
        return self.targets >= 0

    @property
    def tokens(self) -> int:
        """How many tokens are read."""
        return int(self.lengths.sum())

    @property
    def original(self) -> Int[Tensor, "row position"]:
        """What was written, before anything was masked; not for rows read forward only."""
        return torch.where(self.has_target, self.targets, self.ids)


class Hiding(NamedTuple):
    """How rows become questions."""

    share: float
    masked_as: tuple[float, float, float]
    tokens: int
    """How many tokens there are to put in a masked one's place."""
    begins: NDArray[np.bool_] | None = None
    """Which tokens begin a word, where whole words are hidden."""
    causal_share: float = 0.0
    """Share of the rows that are read forward only."""


def hide(rows: SpanRows, hiding: Hiding, rng: np.random.Generator) -> Batch:
    """Make a batch of questions: hide some tokens of every row, or all that follow each place."""
    ids = rows.ids
    if hiding.begins is None:
        chosen = choose_tokens(find_maskable(ids), share=hiding.share, rng=rng)
    else:
        chosen = choose_words(ids, hiding.begins, share=hiding.share, rng=rng)
    shown = corrupt(ids, chosen, masked_as=hiding.masked_as, tokens=hiding.tokens, rng=rng)
    targets = np.where(chosen, ids, IGNORED)
    forward = rng.permutation(len(ids)) < _some(hiding.causal_share * len(ids), rng)
    following = np.full_like(ids, IGNORED)
    following[:, :-1] = ids[:, 1:]
    following[np.arange(ids.shape[1]) + 1 >= rows.lengths[:, None]] = IGNORED
    shown = np.where(forward[:, None], ids, shown)
    targets = np.where(forward[:, None], following, targets)
    marks = np.stack([rows.labels, forward, np.full(len(ids), rng.integers(2**62))], axis=1)
    return _batch(shown, rows, targets, marks)


def ask_masks(rows: SpanRows) -> Batch:
    """Make a batch that asks for every [MASK] that stands in the rows."""
    targets = np.where(rows.ids == MASK, MASK, IGNORED)
    marks = np.stack([rows.labels, np.zeros_like(rows.labels), np.zeros_like(rows.labels)], axis=1)
    return _batch(rows.ids, rows, targets, marks)


def rows_of(batch: Batch) -> Rows:
    """Take a batch apart."""
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
    """Round up or down at random, so that the mean is what is expected."""
    return int(np.floor(expected + rng.random()))
