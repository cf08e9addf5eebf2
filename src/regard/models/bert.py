"""BERT: a bidirectional body, a head for masked tokens, and one for sentence pairs.

    states = body([CLS] A [SEP] B [SEP])
    p(token at t)  = softmax(head(states(t)))          at masked positions only
    p(B follows A) = softmax(W·tanh(V·states(0)))      (Devlin et al. 2019, §3.1)

With a causal mask in some rows the same model predicts next tokens there (GPT-BERT: Charpentier and
Samuel 2024).
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.visibility import causal, padding
from regard.models.body import Body
from regard.models.heads import LabelHead, TokenHead


class Bert(nn.Module):
    """Masked language modelling, with a sentence-pair objective or without.

    Args:
        body: A body without a mask of its own.
        head: Maps its states to logits of tokens.
        pair_head: Maps its states to the logits of "no" and "yes"; None without that objective.

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
        """Return the states of the body."""
        return self.body(ids, visible=visible, segments=segments)


def attention_mask(
    lengths: Int[Tensor, " batch"],
    positions: int,
    *,
    forward_only: Bool[Tensor, " batch"] | None = None,
) -> Bool[Tensor, "batch 1 #position position"]:
    """Mask padding in every row, and later tokens in the rows that are ``forward_only``."""
    visible = padding(lengths, positions)
    if forward_only is None or not forward_only.any():
        return visible
    return visible & (
        causal(positions, positions, device=visible.device) | ~forward_only[:, None, None, None]
    )
