"""One sequence per row, one token at a time: the walk that greedy search and sampling share.

    yₜ = choose(log p(· | y₁ … yₜ₋₁))

Rows that end leave the batch, so that short sequences do not pay for long ones.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.rules import obey
from regard.decoding.steps import (
    Answer,
    Limits,
    Steps,
    answer,
    check_limits,
    log_probabilities,
)

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""(log p "row vocabulary", which rows these were at the start " row", step) -> tokens " row"."""


def greedy(steps: Steps, rows: int, *, limits: Limits) -> list[Answer]:
    """yₜ = argmax log p(· | y₁ … yₜ₋₁): the likeliest token each time."""
    return walk(steps, rows, limits=limits, choose=_likeliest)


def _likeliest(
    log_p: Float[Tensor, "row vocabulary"], _rows: Int[Tensor, " row"], _step: int
) -> Int[Tensor, " row"]:
    return log_p.argmax(dim=-1)


@torch.no_grad()
def walk(steps: Steps, rows: int, *, limits: Limits, choose: Choose) -> list[Answer]:
    """Let ``choose`` pick every token until each row has ended or reached its limit."""
    check_limits(limits, rows)
    answers: list[Answer | None] = [None] * rows
    newest = torch.full((rows,), limits.begin)
    longest = torch.tensor(limits.longest, dtype=torch.long)
    under_way, produced = torch.arange(rows), torch.empty(rows, 0, dtype=torch.long)
    totals = torch.zeros(())

    for step in range(max(limits.longest, default=0)):
        log_p = log_probabilities(steps.advance(newest), limits.never)
        obey(log_p, produced, under_way, limits=limits)
        newest = choose(log_p, under_way, step)
        totals = totals + log_p.gather(1, newest[:, None])[:, 0]
        produced = torch.cat([produced, newest.cpu()[:, None]], dim=1)

        ended = produced[:, -1] == limits.end
        over = ended | (longest == step + 1)
        if not over.any():
            continue
        for place in over.nonzero()[:, 0].tolist():
            ids, total, done = produced[place].tolist(), totals[place].item(), bool(ended[place])
            answers[int(under_way[place])] = answer(
                ids[:-1] if done else ids, total, score=total, finished=done
            )
        going = (~over).nonzero()[:, 0]
        if not len(going):
            break
        under_way, produced, longest = under_way[going], produced[going], longest[going]
        going = going.to(log_p.device)
        newest, totals = newest[going], totals[going]
        steps.keep(going)

    return [one for one in answers if one is not None]
