"""Tokens of a text, how probable each is, and the likeliest ones in its place.

A token without a logit of its own, because training never showed it, has an even share of the
probability of <unk>.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.heads import TokenHead
from regard.tasks.language.continuation import NEVER
from regard.text import special
from regard.text.special import SPECIAL

LOGITS_AT_ONCE = 1 << 22  # 16 MB of them


class RankedTargets(NamedTuple):
    """Log-probabilities of tokens, and the likeliest tokens in the place of each."""

    log_p: Float[Tensor, " token"]
    best: Float[Tensor, "token rank"]
    best_ids: Int[Tensor, "token rank"]


def rank_targets(
    head: TokenHead,
    states: Float[Tensor, "token width"],
    targets: Int[Tensor, " token"],
    *,
    vocabulary: int,
    top: int = 0,
) -> RankedTargets:
    """Rank targets by the states that predict them; also return the ``top`` likeliest tokens."""
    places = head.places(targets)
    escape = int(head.places(targets.new_tensor(special.UNKNOWN)))
    rows, found = max(1, LOGITS_AT_ONCE // len(head.matrix)), []
    for some, where in zip(
        states.split(rows), places.masked_fill(places < 0, escape).split(rows), strict=True
    ):
        log_p = head.logits(some).log_softmax(dim=-1)
        chosen = log_p.gather(-1, where[:, None])[:, 0]
        found.append((chosen, *_find_best(head, log_p, top)))
    log_p, best, best_ids = (torch.cat(parts) for parts in zip(*found, strict=True))
    return RankedTargets(log_p - (places < 0) * _spread(head, vocabulary), best, best_ids)


def _find_best(head: TokenHead, log_p: Tensor, top: int) -> tuple[Tensor, Tensor]:
    """Return the likeliest tokens that generation may choose: log-probabilities and ids."""
    if top:
        never = head.places(torch.tensor(NEVER, device=log_p.device))
        log_p = log_p.index_fill(-1, never[never >= 0], -torch.inf)
    best, places = log_p.topk(min(top, log_p.shape[-1]), dim=-1)
    return best, places if head.written is None else head.written[places]


def _spread(head: TokenHead, vocabulary: int) -> float:
    """Return -log of the share of <unk> that each unseen token gets."""
    if head.written is None:
        return 0.0
    ordinary = int((head.written >= len(SPECIAL)).sum())
    return math.log(max(1, vocabulary - len(SPECIAL) - ordinary))
