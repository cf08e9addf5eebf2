"""Replaced-token detection (ELECTRA, Clark et al. 2020): a generator and a discriminator.

    proposed(t) ~ softmax(generator(masked ids)(t))        at masked positions
    p(replaced at t) = σ(head(body(proposed ids)(t)))      at every position

The body is trained on every token, not on the masked ones alone. No gradient passes the sampling.
Generator and body share no parameters; only the body is transferred.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.models.bert import Bert
from regard.models.body import Body
from regard.models.heads import LabelHead

DRAWN_AT_ONCE = 512  # rows of logits in memory while sampling


class ReplacedTokens(nn.Module):
    """Replaced-token detection.

    Args:
        generator: A small BERT that proposes tokens.
        body: The discriminator, which is transferred.
        head: Maps each of its states to one logit.
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
        """Return the body's states of the proposed ids."""
        return self.body(ids, visible=visible, segments=segments)

    @torch.no_grad()
    def propose(
        self, states: Float[Tensor, "place narrow"], generator: torch.Generator
    ) -> Int[Tensor, " place"]:
        """Sample a token for each of the generator's states, by inverse transform sampling."""
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
