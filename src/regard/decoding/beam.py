"""Beam search: extend the likeliest hypotheses in parallel, and rank the finished ones.

    score(Y) = log p(Y | X) / ((5 + |Y|) / 6)^α        (Wu et al. 2016, eq. 14; Vaswani et al. 2017)

``|Y|`` counts the tokens whose log-probabilities are summed: the end token too, once reached.
With a coverage penalty β, what is divided is log p(Y | X) - β Σₜ Σᵢ min(aₜᵢ, Σ_{s<t} aₛᵢ), where
aₜ is the attention of step t to the source: attending twice costs (See et al. 2017, eq. 13, used as
a penalty).

Each step ranks every continuation of a source's hypotheses. Of the ``width`` best, those with the
end token are finished; the ``width`` best others are extended. The search for a source ends when

- ``width`` answers are finished, or
- no unfinished hypothesis can still beat the ``best`` finished ones. The numerator only falls, and
  the divisor is greatest at the length limit, so a hypothesis never scores above its present
  numerator / ((5 + longest) / 6)^α, or
- the length limit is reached, or the source is cancelled.

With ``width`` 1 this is greedy search. A wider beam need not find a better score.

Axes: ``source`` (one input), ``beam`` (its hypotheses), ``step`` (tokens so far).
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decoding.rules import CoveragePenalty, apply_rules
from regard.decoding.steps import (
    Answer,
    Limits,
    Steps,
    check_limits,
    log_probabilities,
    make_answer,
)


class _Hypotheses(NamedTuple):
    """Unfinished hypotheses, best first."""

    totals: Float[Tensor, "source beam"]
    """Log-probabilities minus penalties."""
    ids: Int[Tensor, "source beam step"]
    penalties: Float[Tensor, "source beam"]
    """Coverage penalties so far."""


class _Ranked(NamedTuple):
    """The best continuations of each source, best first."""

    totals: Float[Tensor, "source candidate"]
    parents: Int[Tensor, "source candidate"]
    tokens: Int[Tensor, "source candidate"]


def beam_search(
    steps: Steps,
    rows: int,
    *,
    limits: Limits,
    width: int,
    length_penalty: float,
    best: int = 1,
    coverage: float = 0.0,
) -> list[list[Answer]]:
    """Return the ``best`` answers of every row, best first.

    Fewer are returned if fewer were finished; unfinished ones only if none was. ``coverage`` is the
    weight of the coverage penalty, which needs steps that report their attention to the source.
    """
    check_limits(limits, rows)
    _check(width, length_penalty, best)
    finished = [_Finished(width, length_penalty, best) for _ in range(rows)]
    penalty = CoveragePenalty(steps, coverage)
    return _search(steps, finished, penalty, limits=limits) if rows else []


class _Finished:
    """The answers of one source so far, and whether the search may stop."""

    def __init__(self, width: int, length_penalty: float, best: int) -> None:
        self.width, self.length_penalty, self.best = width, length_penalty, best
        self.answers: list[Answer] = []
        self.unfinished: list[Answer] = []

    def score(self, total: float, length: int) -> float:
        return total / ((5 + length) / 6) ** self.length_penalty

    def add(self, ids: list[int], total: float, penalty: float) -> None:
        score = self.score(total, len(ids) + 1)
        self.answers.append(make_answer(ids, total + penalty, score=score, finished=True))

    def add_unfinished(self, ids: list[int], total: float, penalty: float) -> None:
        score = self.score(total, len(ids))
        self.unfinished.append(make_answer(ids, total + penalty, score=score, finished=False))

    def is_complete(self, likeliest: float, longest: int) -> bool:
        """Whether no hypothesis, given the likeliest one's total, can still improve the answers."""
        if likeliest == -torch.inf or len(self.answers) >= self.width:
            return True
        return len(self.answers) >= self.best and (
            self.rank()[-1].score >= self.score(likeliest, longest)
        )

    def rank(self) -> list[Answer]:
        found = self.answers or self.unfinished
        return sorted(found, key=lambda one: one.score, reverse=True)[: self.best]


@torch.no_grad()
def _search(
    steps: Steps, finished: list[_Finished], penalty: CoveragePenalty, *, limits: Limits
) -> list[list[Answer]]:
    width, rows = finished[0].width, len(finished)
    sources = list(range(rows))
    newest = torch.full((rows,), limits.begin)
    hypotheses: _Hypotheses | None = None

    for length in range(1, max(limits.longest) + 1):
        log_p = log_probabilities(steps.advance(newest), limits.never)
        hypotheses = hypotheses or _empty_hypotheses(log_p)
        beams = hypotheses.totals.shape[1]
        source_of_row = torch.tensor(sources).repeat_interleave(beams)
        apply_rules(log_p, hypotheses.ids.flatten(0, 1), source_of_row, limits=limits)
        penalties = hypotheses.penalties + penalty.apply(log_p).view_as(hypotheses.penalties)
        hypotheses = hypotheses._replace(penalties=penalties)
        ranked = _rank(hypotheses.totals, log_p, 2 * width)
        ends = ranked.tokens == limits.end
        _collect_finished(
            hypotheses, ranked, ends[:, :width], [finished[source] for source in sources]
        )
        hypotheses, parents = _extend(hypotheses, ranked, ends, width)

        active = _select_active(hypotheses, sources, finished, limits, length)
        if not active:
            break
        kept = torch.tensor(active, device=log_p.device)
        rows_kept = (kept[:, None] * beams + parents[kept]).flatten()
        if not torch.equal(rows_kept, torch.arange(len(log_p), device=rows_kept.device)):
            steps.keep(rows_kept)
            penalty.keep(rows_kept)
        sources = [sources[index] for index in active]
        hypotheses = _Hypotheses(*(tensor[kept] for tensor in hypotheses))
        newest = hypotheses.ids[:, :, -1].flatten()

    return [one.rank() for one in finished]


def _empty_hypotheses(log_p: Float[Tensor, "source vocabulary"]) -> _Hypotheses:
    sources = log_p.shape[0]
    ids = torch.empty(sources, 1, 0, dtype=torch.long, device=log_p.device)
    return _Hypotheses(log_p.new_zeros(sources, 1), ids, log_p.new_zeros(sources, 1))


def _rank(
    totals: Float[Tensor, "source beam"], log_p: Float[Tensor, "row vocabulary"], most: int
) -> _Ranked:
    vocabulary = log_p.shape[-1]
    grown = log_p.view(*totals.shape, vocabulary).add_(totals[:, :, None]).flatten(1)
    best, indices = grown.topk(min(most, grown.shape[1]), dim=1)
    return _Ranked(best, indices // vocabulary, indices % vocabulary)


def _collect_finished(
    hypotheses: _Hypotheses,
    ranked: _Ranked,
    ends: Bool[Tensor, "source candidate"],
    finished: list[_Finished],
) -> None:
    """Add the continuations that end to the finished answers of their source."""
    reached = ends & (ranked.totals[:, : ends.shape[1]] != -torch.inf)
    for source, candidate in reached.nonzero().tolist():
        parent = ranked.parents[source, candidate]
        total = ranked.totals[source, candidate].item()
        ids, penalty = hypotheses.ids[source, parent], hypotheses.penalties[source, parent]
        finished[source].add(ids.tolist(), total, penalty.item())


def _extend(
    hypotheses: _Hypotheses, ranked: _Ranked, ends: Bool[Tensor, "source candidate"], width: int
) -> tuple[_Hypotheses, Int[Tensor, "source beam"]]:
    """Return the best continuations that do not end, and the hypotheses they extend.

    If there are too few of them, some that end fill the beam with a total of -∞.
    """
    order = ends.int().argsort(dim=1, stable=True)[:, :width]
    totals = ranked.totals.masked_fill(ends, -torch.inf).gather(1, order)
    parents, tokens = ranked.parents.gather(1, order), ranked.tokens.gather(1, order)
    earlier = hypotheses.ids.gather(1, parents[:, :, None].expand(-1, -1, hypotheses.ids.shape[2]))
    ids = torch.cat([earlier, tokens[:, :, None]], dim=2)
    return _Hypotheses(totals, ids, hypotheses.penalties.gather(1, parents)), parents


def _select_active(
    hypotheses: _Hypotheses,
    sources: list[int],
    finished: list[_Finished],
    limits: Limits,
    length: int,
) -> list[int]:
    """Return which sources are searched on; at its limit a source keeps its unfinished answers."""
    active, longest, cancelled = [], limits.longest, limits.find_cancelled()
    for index, likeliest in enumerate(hypotheses.totals[:, 0].tolist()):
        source = sources[index]
        if finished[source].is_complete(likeliest, longest[source]):
            continue
        if length < longest[source] and source not in cancelled:
            active.append(index)
            continue
        for total, ids, penalty in zip(*(each[index].tolist() for each in hypotheses), strict=True):
            if total != -torch.inf:
                finished[source].add_unfinished(ids, total, penalty)
    return active


def _check(width: int, length_penalty: float, best: int) -> None:
    if not 1 <= best <= width:
        raise ValueError(
            f"a beam search returns at most as many answers as the beam is wide. "
            f"Got best={best}, width={width}; give 1 <= best <= width."
        )
    if length_penalty < 0:
        raise ValueError(
            f"the length penalty must not be negative: the stopping rule would not hold. "
            f"Got {length_penalty}; give 0 for none."
        )
