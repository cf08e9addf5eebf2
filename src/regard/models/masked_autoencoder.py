"""A masked autoencoder: the encoder never sees what is masked, a light decoder rebuilds it.

    seen(t)    = body(kept ids, at their true places)
    entered(t) = W·seen(t) + p(t) where t was kept, m + p(t) where it was masked
    out(t)     = V·decoder(entered)(t)         logits through the head, at masked places

Every mask is the same vector m, so that only its position tells which one is asked for; without it
all masks of a row get one and the same answer (He et al. 2022, for images; here for words).
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
    """Fills the masked places of a row from what was seen at the others.

    Args:
        width: Size of one state of the encoder.
        narrow: Size of one state in here.
        place: How positions join.
        stack: The blocks.
        blind: Whether masks enter without their positions.

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
        """Rebuild rows of ``lengths``, of which the first ``kept`` of ``places`` were seen."""
        rows, positions = len(seen), int(lengths.max())
        real = torch.arange(places.shape[1], device=places.device) < kept[:, None]
        # What only fills a row up is put one place behind the last, and left there.
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
    """Rebuilds what its encoder never saw.

    Args:
        body: The encoder; positions join its states, so that it can be told which are left.
        decoder: The light part that is thrown away after learning.
        head: Turns rebuilt states into logits of tokens.

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
        """Rebuilt states of every place, from the tokens at the first ``kept`` of ``places``."""
        visible = padding(kept, places.shape[1])
        seen = self.body(ids.gather(1, places), visible=visible, at=places)
        return self.decoder(seen, places=places, kept=kept, lengths=lengths)
