"""A masked autoencoder: the encoder does not see masked tokens, a light decoder predicts them.

    seen(t)    = body(kept ids, at their true positions)
    entered(t) = W·seen(t) + p(t) where t was kept, m + p(t) where it was masked
    out(t)     = V·decoder(entered)(t)         logits through the head, at masked positions

Every mask is the same vector m, so that without positions all masks of a row would have the same
prediction (He et al. 2022, for images; here for words).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.position import Added
from regard.layers.visibility import padding
from regard.models.body import Body
from regard.models.heads import TokenHead
from regard.models.stack import Stack


class LightDecoder(nn.Module):
    """Predicts the states of masked positions from those of the others.

    Args:
        width: Size of one state of the encoder.
        narrow: Size of one state of the decoder.
        place: Position encoding.
        stack: The blocks.
        blind: Whether masks have no positions.

    """

    def __init__(
        self, width: int, narrow: int, *, place: Added, stack: Stack, blind: bool = False
    ) -> None:
        super().__init__()
        self.to_narrow, self.to_wide = nn.Linear(width, narrow), nn.Linear(narrow, width)
        self.mask = nn.Parameter(torch.empty(narrow).normal_(std=narrow**-0.5))
        self.place, self.stack, self.blind = place, stack, blind

    def forward(
        self,
        seen: Float[Tensor, "batch kept width"],
        *,
        places: Int[Tensor, "batch kept"],
        kept: Int[Tensor, " batch"],
        lengths: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch position width"]:
        """Return states of all positions from those of the first ``kept`` of ``places``."""
        rows, positions = len(seen), int(lengths.max())
        real = torch.arange(places.shape[1], device=places.device) < kept[:, None]
        # Padding is scattered to one position behind the last, which is cut off.
        into = places.masked_fill(~real, positions)
        entered = self.mask.expand(rows, positions + 1, -1)
        known = torch.zeros(rows, positions + 1, dtype=torch.bool, device=seen.device)
        entered = entered.scatter(
            1, into[:, :, None].expand(-1, -1, len(self.mask)), self.to_narrow(seen)
        )[:, :-1]
        placed = self.place(entered)
        if self.blind:
            known = known.scatter(1, into, True)[:, :-1]
            placed = torch.where(known[:, :, None], placed, entered)
        states = self.stack(placed, visible=padding(lengths, positions))
        return self.to_wide(states)


class MaskedAutoencoder(nn.Module):
    """Predicts the tokens that its encoder did not see.

    Args:
        body: The encoder; its position encoding must be on the states.
        decoder: The light decoder, which is not transferred.
        head: Maps states to logits of tokens.

    """

    def __init__(self, body: Body, decoder: LightDecoder, head: TokenHead) -> None:
        super().__init__()
        self.body, self.decoder, self.head = body, decoder, head

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        lengths: Int[Tensor, " batch"],
        places: Int[Tensor, "batch kept"],
        kept: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch longest width"]:
        """Return states of all positions from the tokens at the first ``kept`` of ``places``."""
        visible = padding(kept, places.shape[1])
        seen = self.body(ids.gather(1, places), visible=visible, at=places)
        return self.decoder(seen, places=places, kept=kept, lengths=lengths)
