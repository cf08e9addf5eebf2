"""Constraints on a search, and the coverage penalty.

    no repeated n-grams     y_{t-n+1} … y_t does not occur earlier in the row
    minimum length          no end token before ``shortest`` others
    coverage penalty        Σᵢ min(aₜᵢ, cₜᵢ) for the attention aₜ of a step, cₜ = Σ_{s<t} aₛ

A rule changes which token is chosen, never its log-probability.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.steps import AttendingSteps, Limits, Steps


def apply_rules(
    log_p: Float[Tensor, "row vocabulary"],
    produced: Int[Tensor, "row step"],
    rows: Int[Tensor, " row"],
    *,
    limits: Limits,
) -> None:
    """Set the log-probability of every forbidden token to -∞, in place.

    ``rows`` are the rows of ``limits``. A row left without any token may end.
    """
    if not limits.shortest and not limits.no_repeat:
        return
    end = log_p[:, limits.end].clone()
    produced = produced.to(log_p.device)
    if limits.shortest:
        early = torch.tensor(limits.shortest)[rows] > produced.shape[1]
        log_p[early.to(log_p.device), limits.end] = -torch.inf
    if 0 < limits.no_repeat <= produced.shape[1]:
        row, token = _find_repeats(produced, limits.no_repeat)
        log_p[row, token] = -torch.inf
    stuck = (log_p == -torch.inf).all(dim=1)
    log_p[stuck, limits.end] = end[stuck]


def _find_repeats(produced: Int[Tensor, "row step"], size: int) -> tuple[Tensor, Tensor]:
    """Return rows and tokens: each token would repeat an n-gram of that size in its row."""
    ngrams = produced.unfold(1, size, 1)
    last = produced[:, None, produced.shape[1] - size + 1 :]
    row, index = (ngrams[:, :, :-1] == last).all(dim=-1).nonzero(as_tuple=True)
    return row, ngrams[row, index, -1]


def repeats(ids: Sequence[int], size: int) -> bool:
    """Return whether an n-gram of that size occurs twice; 0 for no n-gram."""
    ngrams = [tuple(ids[at : at + size]) for at in range(len(ids) - size + 1)] if size else []
    return len(set(ngrams)) < len(ngrams)


class CoveragePenalty:
    """Penalises attention to source positions that a row has attended to before.

    Args:
        steps: The model; it must report its attention to the source if ``weight`` is above zero.
        weight: The penalty of a step whose attention falls wholly on covered positions.

    """

    def __init__(self, steps: Steps, weight: float) -> None:
        if weight < 0 or (weight and not isinstance(steps, AttendingSteps)):
            raise ValueError(
                "a coverage penalty is at least 0 and needs a model that copies from its source. "
                f"Got {weight:g} for {type(steps).__name__}; give 0 for none."
            )
        self.steps, self.weight = steps, weight
        self._covered: Tensor | None = None

    def apply(self, log_p: Float[Tensor, "row vocabulary"]) -> Float[Tensor, " row"]:
        """Subtract the newest step's penalty from ``log_p``, in place, and return it."""
        if not self.weight:
            return log_p.new_zeros(len(log_p))
        assert isinstance(self.steps, AttendingSteps)
        assert self.steps.source_attention is not None
        attention = self.steps.source_attention.to(log_p)
        covered = torch.zeros_like(attention) if self._covered is None else self._covered
        penalty = self.weight * torch.minimum(attention, covered).sum(dim=-1)
        self._covered = covered + attention
        log_p -= penalty[:, None]
        return penalty

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these rows, in this order."""
        if self._covered is not None:
            self._covered = self._covered.index_select(0, rows)
