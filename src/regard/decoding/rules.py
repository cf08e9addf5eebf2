"""Rules of a search: what a row may not produce next, and what looking again costs.

    no run of n tokens twice        y_{t-n+1} … y_t stands nowhere before in the row
    not too short                   no end token before ``shortest`` others
    coverage                        Σᵢ min(aₜᵢ, cₜᵢ) for the look aₜ of a step, cₜ = Σ_{s<t} aₛ

A rule changes what is chosen, never what a log-probability is.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.steps import Limits, Looks, Steps


def obey(
    log_p: Float[Tensor, "row vocabulary"],
    produced: Int[Tensor, "row step"],
    rows: Int[Tensor, " row"],
    *,
    limits: Limits,
) -> None:
    """Put -∞ in place at every token a row may not produce next; ``rows`` are those of the limits.

    A row that could not go on at all may end.
    """
    if not limits.shortest and not limits.no_repeat:
        return
    end = log_p[:, limits.end].clone()
    produced = produced.to(log_p.device)
    if limits.shortest:
        early = torch.tensor(limits.shortest)[rows] > produced.shape[1]
        log_p[early.to(log_p.device), limits.end] = -torch.inf
    if 0 < limits.no_repeat <= produced.shape[1]:
        row, token = _repeating(produced, limits.no_repeat)
        log_p[row, token] = -torch.inf
    stuck = (log_p == -torch.inf).all(dim=1)
    log_p[stuck, limits.end] = end[stuck]


def _repeating(produced: Int[Tensor, "row step"], run: int) -> tuple[Tensor, Tensor]:
    """Rows and the tokens that would make their last ``run`` tokens a run they had before."""
    runs = produced.unfold(1, run, 1)
    last = produced[:, None, produced.shape[1] - run + 1 :]
    row, place = (runs[:, :, :-1] == last).all(dim=-1).nonzero(as_tuple=True)
    return row, runs[row, place, -1]


class Coverage:
    """How much of its source each row of a search has looked at.

    Args:
        steps: The model; it must say where it looked if ``weight`` is above zero.
        weight: What a look that falls wholly on what was looked at before costs.

    """

    def __init__(self, steps: Steps, weight: float) -> None:
        if weight < 0 or (weight and not isinstance(steps, Looks)):
            raise ValueError(
                "a coverage penalty is not negative, and needs a model that says where it looked. "
                f"Got {weight:g} for {type(steps).__name__}; give 0 for none."
            )
        self.steps, self.weight = steps, weight
        self._covered: Tensor | None = None

    def look(self, log_p: Float[Tensor, "row vocabulary"]) -> Float[Tensor, " row"]:
        """Take what the newest look costs from ``log_p``, in place, and return it."""
        if not self.weight:
            return log_p.new_zeros(len(log_p))
        assert isinstance(self.steps, Looks) and self.steps.looked is not None
        looked = self.steps.looked.to(log_p)
        covered = torch.zeros_like(looked) if self._covered is None else self._covered
        cost = self.weight * torch.minimum(looked, covered).sum(dim=-1)
        self._covered = covered + looked
        log_p -= cost[:, None]
        return cost

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows, in this order."""
        if self._covered is not None:
            self._covered = self._covered.index_select(0, rows)
