"""What all searches share: a model that is advanced step by step, its limits, and its answers.

    log p(y | x) = Σₜ log p(yₜ | y₁ … yₜ₋₁, x)        the end token is one of the yₜ

A log-probability is always the model's own: neither forbidden tokens nor a sampling temperature
change it, so scoring an answer again gives the same number.

Axes: ``row`` (one unfinished sequence), ``vocabulary``.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.errors import RunError


@runtime_checkable
class Steps(Protocol):
    """One model with several unfinished sequences.

    The first ``newest`` is the begin token of every row, on the CPU; later ones are on the device
    of the logits.
    """

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row vocabulary"]:
        """Append one token to every row and return the logits of the next."""

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these rows, in this order; a row may be repeated or dropped."""


@runtime_checkable
class AttendingSteps(Steps, Protocol):
    """Steps of a model that reports its attention to the source."""

    source_attention: Float[Tensor, "row key"] | None
    """Attention weights of each row's newest step; a row sums to one."""


class Limits(NamedTuple):
    """Begin and end tokens, lengths, and forbidden tokens of the sequences."""

    begin: int
    """The token before the first one."""
    end: int
    """The token after the last one."""
    longest: list[int]
    """Per row, the most tokens, the end token included. A model is advanced at most this often, so
    it needs no more positions than this."""
    never: tuple[int, ...] = ()
    """Tokens that are never produced (padding, begin)."""
    shortest: tuple[int, ...] = ()
    """Per row, the fewest tokens before the end token; empty for no such limit."""
    no_repeat: int = 0
    """N-grams of this size may not repeat within a row; 0 allows repetition."""
    cancelled: Callable[[], Collection[int]] | None = None
    """Called once per step: the rows that nobody waits for any more. They leave the batch as if
    they had reached their length limit."""

    def find_cancelled(self) -> frozenset[int]:
        """Return the rows that are cancelled by now."""
        return frozenset(self.cancelled()) if self.cancelled else frozenset()

    def select(self, rows: Sequence[int]) -> "Limits":
        """Return the limits of these rows, in this order."""
        cancelled = self.cancelled

        def places() -> list[int]:
            gone = cancelled() if cancelled else ()
            return [place for place, row in enumerate(rows) if row in gone]

        return self._replace(
            longest=[self.longest[row] for row in rows],
            shortest=tuple(self.shortest[row] for row in rows) if self.shortest else (),
            cancelled=places if cancelled else None,
        )


class Answer(NamedTuple):
    """One sequence, and how probable the model finds it."""

    ids: list[int]
    """Without begin and end."""
    log_probability: float
    """Summed over the tokens, the end token included if it was reached."""
    score: float
    """What the search ranks by; for greedy search and sampling the log-probability."""
    finished: bool
    """False if the length limit came before the end token."""


def log_probabilities(
    logits: Float[Tensor, "row vocabulary"], never: Sequence[int]
) -> Float[Tensor, "row vocabulary"]:
    """Turn logits into log-probabilities, at least in float32; forbidden tokens get -inf."""
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
    if not never:
        return log_p
    return log_p.index_fill_(1, torch.tensor(never, device=log_p.device), -torch.inf)


def check_limits(limits: Limits, rows: int) -> None:
    """Refuse limits that do not fit the rows."""
    if len(limits.longest) != rows:
        raise ValueError(
            f"every row needs a length limit. Got rows={rows}, {len(limits.longest)} limits; "
            f"repeat one limit as [limit] * {rows}."
        )
    if min(limits.longest, default=1) < 1:
        raise ValueError(
            f"a row must be allowed at least one token, so that it can end. "
            f"Got longest={min(limits.longest)}; give 1 or more."
        )
    if limits.shortest and len(limits.shortest) != rows:
        raise ValueError(
            f"minimum lengths are given for every row or for none. Got rows={rows}, "
            f"{len(limits.shortest)} lengths; leave shortest out for none."
        )
    if limits.no_repeat < 0:
        raise ValueError(
            "no_repeat is the size of an n-gram, so it cannot be negative. "
            f"Got no_repeat={limits.no_repeat}; give 0 to allow repetition."
        )
    if limits.end in limits.never:
        raise ValueError(
            f"the end token must not be forbidden, or no answer ever finishes. "
            f"Got end={limits.end} among never={limits.never}; take it out."
        )


def make_answer(ids: list[int], log_probability: float, *, score: float, finished: bool) -> Answer:
    """Make an answer; refuse a log-probability that is NaN or infinite."""
    if not math.isfinite(log_probability):
        raise RunError(
            f"a model's answer must have a finite log-probability. Got {log_probability} after "
            f"{len(ids)} tokens: its weights or activations overflow.",
            "Train again with a lower learning rate or in float32, or use an earlier checkpoint.",
        )
    return Answer(ids, log_probability, score, finished)
