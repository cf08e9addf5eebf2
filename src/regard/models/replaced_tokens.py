"""Replaced tokens: a small generator proposes words, the body tells which are not the writer's.

    proposed(t) ~ softmax(generator(masked ids)(t))        at masked places
    p(replaced at t) = σ(head(body(proposed ids)(t)))      at every place

The body learns from every token, not from the masked ones alone (ELECTRA: Clark et al. 2020). No
gradient passes the draw. Generator and body share nothing: only the body is carried on.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.models.bert import Bert
from regard.models.body import Body
from regard.models.heads import LabelHead

DRAWN_AT_ONCE = 512  # rows of logits held while drawing


class ReplacedTokens(nn.Module):
    """Which tokens were replaced.

    Args:
        generator: A small BERT that proposes words.
        body: What learns to tell them, and is carried on.
        head: Turns its states into one logit each.
        pair_head: As in :class:`regard.models.bert.Bert`.

    """

    def __init__(
        self,
        generator: Bert,
        body: Body,
        head: "ReplacedHead",
        pair_head: LabelHead | None = None,
    ) -> None:
        super().__init__()
        self.generator, self.body = generator, body
        self.head, self.pair_head = head, pair_head

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        visible: Bool[Tensor, "#batch 1 #position position"],
        segments: Int[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """States of the body, over what the generator proposed."""
        return self.body(ids, visible=visible, segments=segments)

    @torch.no_grad()
    def propose(
        self, states: Float[Tensor, "place narrow"], generator: torch.Generator
    ) -> Int[Tensor, " place"]:
        """Draw a token for each of the generator's states, by inverting the running sum."""
        drawn = []
        for part in states.split(DRAWN_AT_ONCE):
            sums = self.generator.head(part).softmax(dim=-1).cumsum(dim=-1)
            heights = torch.rand(len(part), 1, generator=generator, dtype=sums.dtype).to(
                sums.device
            )
            heights = heights * sums[:, -1:]
            drawn.append(torch.searchsorted(sums, heights, right=True).squeeze(1))
        return torch.cat(drawn).clamp(max=self.generator.head.tokens - 1)


class ReplacedHead(nn.Module):
    """v·gelu(W·state + b): one logit for every state.

    Args:
        width: Size of one state.

    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense, self.to_logit = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any"]:
        return self.to_logit(nn.functional.gelu(self.dense(states))).squeeze(-1)
