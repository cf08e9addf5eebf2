"""A tagger: logits = W · body(ids) + b at every position."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.visibility import padding
from regard.models.body import Body


class TagHead(nn.Module):
    """One logit per tag, from each state.

    Args:
        width: Size of a state.
        tags: Number of tags.
        dropout: Share of a state dropped while training.

    """

    def __init__(self, width: int, tags: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout, self.to_logits = Dropout(dropout), nn.Linear(width, tags)

    def forward(self, states: Float[Tensor, "*any width"]) -> Float[Tensor, "*any tag"]:
        return self.to_logits(self.dropout(states))


class Tagger(nn.Module):
    """Tag logits of each position.

    Args:
        body: Any body.
        head: Maps each of its states to one logit per tag.

    """

    def __init__(self, body: Body, head: TagHead) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch position tag"]:
        """Return the logits of all tags at every position."""
        return self.head(self.body(ids, visible=padding(lengths, ids.shape[1])))
