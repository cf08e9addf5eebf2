"""Completion: prompts given as ids are continued, and every token is reported as it is chosen.

Each prompt has its own length limit and seed, so that its continuation does not depend on the other
prompts of its batch.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.decoding.sampling import SamplingParameters, sample
from regard.decoding.search import greedy_search
from regard.decoding.steps import Limits
from regard.device import device_of
from regard.models.gpt import LanguageModel
from regard.tasks.language.continuation import NEVER, CancelledRows, group_by_length
from regard.tasks.language.language_modelling import LanguageModelling
from regard.text import special


class PromptIds(NamedTuple):
    """What is continued."""

    ids: tuple[int, ...]
    """The token that begins every text may be left out."""
    longest: int
    """The most tokens that follow, the end token included."""
    seed: int


class Sampled(NamedTuple):
    """How tokens are chosen."""

    temperature: float
    """0 for the likeliest token each time."""
    top_p: float


class ScoredToken(NamedTuple):
    """A token with its log-probability, and the likeliest tokens in its place."""

    id: int
    log_p: float
    best: list[tuple[int, float]]


Written = Callable[[int, ScoredToken], None]
"""Called with the place of a prompt and the token that was chosen for it."""


@torch.inference_mode()
def complete_prompts(
    task: LanguageModelling,
    model: LanguageModel,
    prompts: Sequence[PromptIds],
    *,
    sampled: Sampled,
    top: int,
    written: Written,
    cancelled_rows: CancelledRows,
) -> None:
    """Continue prompts; report each token with the ``top`` likeliest ones."""
    model.eval()
    bodies = [_without_begin(prompt.ids) for prompt in prompts]
    for places in group_by_length(bodies):
        some, rows = [prompts[place] for place in places], len(places)

        def observe(
            log_p: Tensor, active: Tensor, tokens: Tensor, places: list[int] = places
        ) -> None:
            scored = _score_tokens(log_p, tokens, top)
            for row, token in zip(active.tolist(), scored, strict=True):
                written(places[row], token)

        longest = [prompt.longest for prompt in some]
        cancelled = cancelled_rows(places)
        limits = Limits(special.END, special.END, longest, NEVER, cancelled=cancelled)
        ids = torch.tensor([bodies[place] for place in places], dtype=torch.long)
        steps = model.steps(ids.view(rows, -1).to(device_of(model)), context=task.context)
        if not sampled.temperature:
            greedy_search(steps, rows, limits=limits, observe=observe)
            continue
        sample(
            steps,
            rows,
            limits=limits,
            parameters=SamplingParameters(sampled.temperature, top_p=sampled.top_p),
            generator=[torch.Generator().manual_seed(prompt.seed) for prompt in some],
            observe=observe,
        )


def _score_tokens(log_p: Tensor, tokens: Tensor, top: int) -> Iterator[ScoredToken]:
    """Look up the log-probabilities of the chosen tokens and of the likeliest ones."""
    chosen = log_p.gather(1, tokens[:, None])[:, 0]
    best, best_ids = log_p.topk(min(top, log_p.shape[1]), dim=1)
    return _as_scored(tokens.tolist(), chosen, best_ids, best)


def _as_scored(
    ids: Sequence[int], log_p: Tensor, best_ids: Tensor, best: Tensor
) -> Iterator[ScoredToken]:
    columns = zip(ids, log_p.tolist(), best_ids.tolist(), best.tolist(), strict=True)
    for id, one, its_ids, its_best in columns:
        yield ScoredToken(id, one, list(zip(its_ids, its_best, strict=True)))


def score_prompt(
    task: LanguageModelling, model: LanguageModel, ids: tuple[int, ...], *, top: int
) -> list[ScoredToken | None]:
    """Score the tokens of a prompt as evaluation does; the first has none before it."""
    body = _without_begin(ids)
    if not body:
        return [None] * len(ids)
    found = task.rank_tokens(
        model,
        np.asarray(body, dtype=np.uint32),
        context=task.context,
        stride=max(1, task.context // 2),
        top=top,
    )
    scored = list(_as_scored(body, found.log_p, found.best_ids, found.best))
    return [None, *scored[len(body) + 1 - len(ids) :]]


def _without_begin(ids: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out the token that begins a text; every text is read after it."""
    return ids[1:] if ids[:1] == (special.END,) else ids
