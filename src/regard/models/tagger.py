"""A tagger: a body, and a head that gives every position one logit per tag.

logits = W · body(ids) + b
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.visibility import padding
from regard.models.body import Body


class Tagger(nn.Module):
    """Which tag each position has.

    Args:
        body: Any body.
        width: Size of the states it ends in.
        tags: How many tags there are.
        dropout: Share of a state dropped while training.

    """

    def __init__(self, body: Body, width: int, tags: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.body, self.dropout = body, Dropout(dropout)
        self.to_logits = nn.Linear(width, tags)

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch position tag"]:
        """Logits of every tag at every position."""
        states = self.body(ids, visible=padding(lengths, ids.shape[1]))
        return self.to_logits(self.dropout(states))
