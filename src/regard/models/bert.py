"""BERT: a body that sees both ways, a head for masked words, and one for pairs.

    states = body([CLS] A [SEP] B [SEP])
    p(word at t)   = softmax(head(states(t)))          at masked places only
    p(B follows A) = softmax(W·tanh(V·states(0)))      (Devlin et al. 2019, §3.1)

With a view that hides the future in some rows the same model guesses next words in those (GPT-BERT:
Charpentier and Samuel 2024): the head is one, the places asked are the caller's.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.visibility import causal, padding
from regard.models.body import Body
from regard.models.heads import LabelHead, TokenHead


class Bert(nn.Module):
    """Masked words, and pairs of spans.

    Args:
        body: A body without a rule of its own.
        head: Turns its states into logits of tokens.
        pair_head: Turns its states into the logits of "no" and "yes"; None where nothing is asked
            of pairs.

    """

    def __init__(self, body: Body, head: TokenHead, pair_head: LabelHead | None = None) -> None:
        super().__init__()
        self.body, self.head, self.pair_head = body, head, pair_head

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        visible: Bool[Tensor, "#batch 1 #position position"],
        segments: Int[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """States, of which heads ask those they want."""
        return self.body(ids, visible=visible, segments=segments)


def view(
    lengths: Int[Tensor, " batch"],
    positions: int,
    *,
    forward_only: Bool[Tensor, " batch"] | None = None,
) -> Bool[Tensor, "batch 1 #position position"]:
    """Hide padding from every row, and the future from the rows that are ``forward_only``."""
    visible = padding(lengths, positions)
    if forward_only is None or not forward_only.any():
        return visible
    return visible & (
        causal(positions, positions, device=visible.device) | ~forward_only[:, None, None, None]
    )
