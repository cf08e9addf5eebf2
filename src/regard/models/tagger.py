"""A tagger: a body, and a head that gives every position one logit per tag.

logits = W · body(ids) + b
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.visibility import padding
from regard.models.body import Body


class TagHead(nn.Module):
    """One logit per tag, from each state.

    Args:
        width: Size of a state.
        tags: How many tags there are.
        dropout: Share of a state dropped while training.

    """

    def __init__(self, width: int, tags: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout, self.to_logits = Dropout(dropout), nn.Linear(width, tags)

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any tag"]:
        return self.to_logits(self.dropout(states))


class Tagger(nn.Module):
    """Which tag each position has.

    Args:
        body: Any body.
        head: Turns each of its states into one logit per tag.

    """

    def __init__(self, body: Body, head: TagHead) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch position tag"]:
        """Logits of every tag at every position."""
        return self.head(self.body(ids, visible=padding(lengths, ids.shape[1])))
