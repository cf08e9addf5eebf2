"""A bi-encoder: one body encodes every text as a unit vector.

    v(text) = pool(body(ids)) / ‖pool(body(ids))‖        similarity = v(a)·v(b), the cosine

Queries and documents are encoded separately, so documents are encoded once, before any query
(Reimers and Gurevych 2019; Karpukhin et al. 2020).
"""

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from regard.layers.visibility import padding
from regard.layers.weighted_mean import WeightedMean
from regard.models.body import Body


class BiEncoder(nn.Module):
    """One vector per text.

    Args:
        body: Any body.
        pool: Turns its states into one state; a :class:`WeightedMean` also takes the ids.

    """

    def __init__(self, body: Body, pool: nn.Module) -> None:
        super().__init__()
        self.body, self.pool = body, pool

    def forward(
        self, ids: Int[Tensor, "batch position"], *, lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch feature"]:
        """Return unit vectors."""
        visible = padding(lengths, ids.shape[1])
        states = self.body(ids, visible=visible)
        if isinstance(self.pool, WeightedMean):
            pooled = self.pool(states, ids=ids, visible=visible)
        else:
            pooled = self.pool(states, visible=visible).flatten(1)
        return normalize(pooled, dim=-1)
