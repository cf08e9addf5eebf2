"""A classifier: logits = W · pool(body(ids)) + b."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.visibility import padding
from regard.models.body import Body
from regard.models.heads import LabelHead


class Classifier(nn.Module):
    """Label logits of a text.

    Args:
        body: Any body.
        head: Maps its states to one logit per label.

    """

    def __init__(self, body: Body, head: LabelHead) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        lengths: Int[Tensor, " batch"],
        segments: Int[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "batch label"]:
        """Return the logits of all labels."""
        visible = padding(lengths, ids.shape[1])
        return self.head(self.body(ids, visible=visible, segments=segments), visible=visible)
