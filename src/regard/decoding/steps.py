"""What every search shares: a model that goes step by step, its limits, and its answers.

    log p(y | x) = Σₜ log p(yₜ | y₁ … yₜ₋₁, x)        the end token is one of the yₜ

A log-probability is always the model's own: neither the tokens that are never produced nor a
sampler's temperature change it, so re-scoring an answer gives the same number.

Axes: ``row`` (one sequence under way), ``vocabulary``.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.errors import RunError


@runtime_checkable
class Steps(Protocol):
    """One model, several sequences under way.

    The first ``newest`` is the begin token of every row and lives on the CPU; everything later
    lives where the logits do.
    """

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row vocabulary"]:
        """Append one token to every row and give the logits of the next."""

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows, in this order; a row may be repeated or left out."""


@runtime_checkable
class Looks(Steps, Protocol):
    """Steps of a model that says where in its source it looked."""

    looked: Float[Tensor, "row key"] | None
    """Where each row's newest step looked; a row sums to one."""


class Limits(NamedTuple):
    """Where a sequence begins, where it ends, and how far it may go."""

    begin: int
    """The token before the first one."""
    end: int
    """The token after the last one."""
    longest: list[int]
    """Per row, the most tokens that are produced, the end token counted. A model is advanced
    at most this often, so it needs no more positions than this."""
    never: tuple[int, ...] = ()
    """Tokens that are never produced (padding, begin)."""
    shortest: tuple[int, ...] = ()
    """Per row, the fewest tokens before the end token; empty for no such limit."""
    no_repeat: int = 0
    """Runs of this many tokens come once in a row; 0 lets them come again."""


class Answer(NamedTuple):
    """One sequence, and how probable the model finds it."""

    ids: list[int]
    """Without begin and end."""
    log_probability: float
    """Summed over the tokens, the end token included if it was reached."""
    score: float
    """What the search ranked by; for greedy and sampling the log-probability itself."""
    finished: bool
    """False if the length limit came before the end token."""


def log_probabilities(
    logits: Float[Tensor, "row vocabulary"], never: Sequence[int]
) -> Float[Tensor, "row vocabulary"]:
    """Turn logits into log p, in single precision at least; what must never come has -inf."""
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
    if not never:
        return log_p
    return log_p.index_fill_(1, torch.tensor(never, device=log_p.device), -torch.inf)


def check_limits(limits: Limits, rows: int) -> None:
    """Refuse limits that do not fit the rows."""
    if len(limits.longest) != rows:
        raise ValueError(
            f"every row needs its own limit. Got rows={rows}, {len(limits.longest)} limits; "
            f"repeat one limit as [limit] * {rows}."
        )
    if min(limits.longest, default=1) < 1:
        raise ValueError(
            f"a row must be allowed at least one token, or it cannot even end. "
            f"Got longest={min(limits.longest)}; give 1 or more."
        )
    if limits.shortest and len(limits.shortest) != rows:
        raise ValueError(
            f"every row needs its own least length, or none does. Got rows={rows}, "
            f"{len(limits.shortest)} lengths; leave shortest out for none."
        )
    if limits.no_repeat < 0:
        raise ValueError(
            f"a run has at least one token. Got no_repeat={limits.no_repeat}; give 0 to let runs "
            "come again."
        )
    if limits.end in limits.never:
        raise ValueError(
            f"the end token must be producible, or no answer is ever finished. "
            f"Got end={limits.end} among never={limits.never}; take it out."
        )


def answer(ids: list[int], log_probability: float, *, score: float, finished: bool) -> Answer:
    """Make an answer, and refuse one that a broken model gave."""
    if not math.isfinite(log_probability):
        raise RunError(
            f"a model's answer must have a finite log-probability. Got {log_probability} after "
            f"{len(ids)} tokens: its weights or activations overflow.",
            "Train again with a lower learning rate or in float32, or use an earlier checkpoint.",
        )
    return Answer(ids, log_probability, score, finished)
