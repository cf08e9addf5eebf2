"""Generation of one sequence per row, token by token, as greedy search and sampling share it.

    yₜ = choose(log p(· | y₁ … yₜ₋₁))

Finished and cancelled rows leave the batch, so that short sequences do not wait for long ones.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.rules import apply_rules
from regard.decoding.steps import (
    Answer,
    Limits,
    Steps,
    check_limits,
    log_probabilities,
    make_answer,
)

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""(log p "row vocabulary", the rows' original indices " row", step) -> tokens " row"."""

Observe = Callable[[Tensor, Tensor, Tensor], None]
"""(log p "row vocabulary", the rows' original indices " row", the chosen tokens " row"): called
once per step, before ``limits.cancelled`` is asked. It must not change them."""


def greedy_search(
    steps: Steps, rows: int, *, limits: Limits, observe: Observe | None = None
) -> list[Answer]:
    """yₜ = argmax log p(· | y₁ … yₜ₋₁): the likeliest token each time."""
    return generate(steps, rows, limits=limits, choose=_take_likeliest, observe=observe)


def _take_likeliest(
    log_p: Float[Tensor, "row vocabulary"], _rows: Int[Tensor, " row"], _step: int
) -> Int[Tensor, " row"]:
    return log_p.argmax(dim=-1)


@torch.no_grad()
def generate(
    steps: Steps,
    rows: int,
    *,
    limits: Limits,
    choose: Choose,
    observe: Observe | None = None,
) -> list[Answer]:
    """Let ``choose`` pick each token until every row has ended or reached its limit."""
    check_limits(limits, rows)
    answers: list[Answer | None] = [None] * rows
    newest = torch.full((rows,), limits.begin)
    longest = torch.tensor(limits.longest, dtype=torch.long)
    active, produced = torch.arange(rows), torch.empty(rows, 0, dtype=torch.long)
    totals = torch.zeros(())

    for step in range(max(limits.longest, default=0)):
        log_p = log_probabilities(steps.advance(newest), limits.never)
        apply_rules(log_p, produced, active, limits=limits)
        newest = choose(log_p, active, step)
        if observe is not None:
            observe(log_p, active, newest)
        totals = totals + log_p.gather(1, newest[:, None])[:, 0]
        produced = torch.cat([produced, newest.cpu()[:, None]], dim=1)

        ended = produced[:, -1] == limits.end
        stopped = ended | (longest == step + 1)
        if cancelled := limits.find_cancelled():
            stopped |= torch.tensor([row in cancelled for row in active.tolist()])
        if not stopped.any():
            continue
        for row in stopped.nonzero()[:, 0].tolist():
            ids, total, finished = produced[row].tolist(), totals[row].item(), bool(ended[row])
            answers[int(active[row])] = make_answer(
                ids[:-1] if finished else ids, total, score=total, finished=finished
            )
        kept = (~stopped).nonzero()[:, 0]
        if not len(kept):
            break
        active, produced, longest = active[kept], produced[kept], longest[kept]
        kept = kept.to(log_p.device)
        newest, totals = newest[kept], totals[kept]
        steps.keep(kept)

    return [one for one in answers if one is not None]
