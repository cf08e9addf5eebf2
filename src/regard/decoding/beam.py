"""Beam search: keep the likeliest beginnings in play, and rank what they become.

    score(Y) = log p(Y | X) / ((5 + |Y|) / 6)^α        (Wu et al. 2016, eq. 14; Vaswani et al. 2017)

``|Y|`` counts the tokens whose log-probabilities are summed: the end token too, once reached.
With a coverage penalty β, what is divided is log p(Y | X) - β Σₜ Σᵢ min(aₜᵢ, Σ_{s<t} aₛᵢ), where
aₜ is the look of step t into the source: looking again costs (See et al. 2017, eq. 13, as a price).

Each step ranks every continuation of a source's beginnings. Of the ``width`` best, those with the
end token are finished; the ``width`` best others go on. A source is over when

- ``width`` answers are finished, or
- nothing under way can still beat the ``best`` finished ones. What is divided only falls, and
  the divisor is greatest at the length limit, so a beginning never scores above what it has
  now / ((5 + longest) / 6)^α, or
- the length limit is reached.

With ``width`` 1 this is greedy search. A wider beam need not find a better score.

Axes: ``source`` (one input), ``beam`` (its beginnings), ``step`` (tokens so far).
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decoding.rules import Coverage, obey
from regard.decoding.steps import (
    Answer,
    Limits,
    Steps,
    answer,
    check_limits,
    log_probabilities,
)


class _Beginnings(NamedTuple):
    """What is under way, best first."""

    totals: Float[Tensor, "source beam"]
    """Log-probabilities less what was paid."""
    ids: Int[Tensor, "source beam step"]
    paid: Float[Tensor, "source beam"]
    """What looking again has cost."""


class _Ranked(NamedTuple):
    """The best continuations of each source, best first."""

    totals: Float[Tensor, "source candidate"]
    parents: Int[Tensor, "source candidate"]
    tokens: Int[Tensor, "source candidate"]


def beam(
    steps: Steps,
    rows: int,
    *,
    limits: Limits,
    width: int,
    length_penalty: float,
    best: int = 1,
    coverage: float = 0.0,
) -> list[list[Answer]]:
    """Give the ``best`` answers of every row, best first.

    Fewer come back where fewer were finished; unfinished ones only where none was. ``coverage`` is
    what looking again costs; the steps must then say where they looked.
    """
    check_limits(limits, rows)
    _check(width, length_penalty, best)
    finished = [_Finished(width, length_penalty, best) for _ in range(rows)]
    covered = Coverage(steps, coverage)
    return _search(steps, finished, covered, limits=limits) if rows else []


class _Finished:
    """The answers of one source so far, and whether more are worth looking for."""

    def __init__(self, width: int, length_penalty: float, best: int) -> None:
        self.width, self.length_penalty, self.best = width, length_penalty, best
        self.answers: list[Answer] = []
        self.unfinished: list[Answer] = []

    def score(self, total: float, length: int) -> float:
        return total / ((5 + length) / 6) ** self.length_penalty

    def add(self, ids: list[int], total: float, paid: float) -> None:
        score = self.score(total, len(ids) + 1)
        self.answers.append(answer(ids, total + paid, score=score, finished=True))

    def cut_off(self, ids: list[int], total: float, paid: float) -> None:
        score = self.score(total, len(ids))
        self.unfinished.append(answer(ids, total + paid, score=score, finished=False))

    def over(self, likeliest: float, longest: int) -> bool:
        """Whether no beginning, the likeliest given, is worth going on with."""
        if likeliest == -torch.inf or len(self.answers) >= self.width:
            return True
        return len(self.answers) >= self.best and (
            self.ranked()[-1].score >= self.score(likeliest, longest)
        )

    def ranked(self) -> list[Answer]:
        found = self.answers or self.unfinished
        return sorted(found, key=lambda one: one.score, reverse=True)[: self.best]


@torch.no_grad()
def _search(
    steps: Steps, finished: list[_Finished], covered: Coverage, *, limits: Limits
) -> list[list[Answer]]:
    width, rows = finished[0].width, len(finished)
    sources = list(range(rows))
    newest = torch.full((rows,), limits.begin)
    begun: _Beginnings | None = None

    for length in range(1, max(limits.longest) + 1):
        log_p = log_probabilities(steps.advance(newest), limits.never)
        begun = begun or _nothing_yet(log_p)
        beams = begun.totals.shape[1]
        asked = torch.tensor(sources).repeat_interleave(beams)
        obey(log_p, begun.ids.flatten(0, 1), asked, limits=limits)
        cost = covered.look(log_p)
        begun = begun._replace(paid=begun.paid + cost.view_as(begun.paid))
        ranked = _rank(begun.totals, log_p, 2 * width)
        ends = ranked.tokens == limits.end
        _collect(begun, ranked, ends[:, :width], [finished[source] for source in sources])
        begun, parents = _go_on(begun, ranked, ends, width)

        going = _still_going(begun, sources, finished, limits.longest, length)
        if not going:
            break
        kept = torch.tensor(going, device=log_p.device)
        rows_kept = (kept[:, None] * beams + parents[kept]).flatten()
        if not torch.equal(rows_kept, torch.arange(len(log_p), device=rows_kept.device)):
            steps.keep(rows_kept)
            covered.keep(rows_kept)
        sources = [sources[place] for place in going]
        begun = _Beginnings(*(tensor[kept] for tensor in begun))
        newest = begun.ids[:, :, -1].flatten()

    return [one.ranked() for one in finished]


def _nothing_yet(log_p: Float[Tensor, "source vocabulary"]) -> _Beginnings:
    sources = log_p.shape[0]
    ids = torch.empty(sources, 1, 0, dtype=torch.long, device=log_p.device)
    return _Beginnings(log_p.new_zeros(sources, 1), ids, log_p.new_zeros(sources, 1))


def _rank(
    totals: Float[Tensor, "source beam"], log_p: Float[Tensor, "row vocabulary"], most: int
) -> _Ranked:
    vocabulary = log_p.shape[-1]
    grown = log_p.view(*totals.shape, vocabulary).add_(totals[:, :, None]).flatten(1)
    best, places = grown.topk(min(most, grown.shape[1]), dim=1)
    return _Ranked(best, places // vocabulary, places % vocabulary)


def _collect(
    begun: _Beginnings,
    ranked: _Ranked,
    ends: Bool[Tensor, "source candidate"],
    finished: list[_Finished],
) -> None:
    """Put the continuations that end among the finished answers of their source."""
    reached = ends & (ranked.totals[:, : ends.shape[1]] != -torch.inf)
    for source, candidate in reached.nonzero().tolist():
        parent = ranked.parents[source, candidate]
        total = ranked.totals[source, candidate].item()
        ids, paid = begun.ids[source, parent], begun.paid[source, parent]
        finished[source].add(ids.tolist(), total, paid.item())


def _go_on(
    begun: _Beginnings, ranked: _Ranked, ends: Bool[Tensor, "source candidate"], width: int
) -> tuple[_Beginnings, Int[Tensor, "source beam"]]:
    """Take the best continuations that do not end, and say which beginnings they continue.

    Where there are too few of them, some that end fill the places, out of the running.
    """
    order = ends.int().argsort(dim=1, stable=True)[:, :width]
    totals = ranked.totals.masked_fill(ends, -torch.inf).gather(1, order)
    parents, tokens = ranked.parents.gather(1, order), ranked.tokens.gather(1, order)
    came_from = begun.ids.gather(1, parents[:, :, None].expand(-1, -1, begun.ids.shape[2]))
    grown = torch.cat([came_from, tokens[:, :, None]], dim=2)
    return _Beginnings(totals, grown, begun.paid.gather(1, parents)), parents


def _still_going(
    begun: _Beginnings,
    sources: list[int],
    finished: list[_Finished],
    longest: list[int],
    length: int,
) -> list[int]:
    """Which places go on; those cut off by their limit leave what they have."""
    going = []
    for place, likeliest in enumerate(begun.totals[:, 0].tolist()):
        source = sources[place]
        if finished[source].over(likeliest, longest[source]):
            continue
        if length < longest[source]:
            going.append(place)
            continue
        for total, ids, paid in zip(*(each[place].tolist() for each in begun), strict=True):
            if total != -torch.inf:
                finished[source].cut_off(ids, total, paid)
    return going


def _check(width: int, length_penalty: float, best: int) -> None:
    if not 1 <= best <= width:
        raise ValueError(
            f"a beam finishes at most as many answers as it is wide. "
            f"Got best={best}, width={width}; give 1 <= best <= width."
        )
    if length_penalty < 0:
        raise ValueError(
            f"the length penalty must not be negative, or the search could not tell when to stop. "
            f"Got {length_penalty}; give 0 for none."
        )
