"""A translator that begins with a lexicon instead of nothing.

    E = normed(R + 1.5·A·R)        R random, A the lexicon's strengths, both ways

Tokens that mean each other begin near each other in the one table. Values and outputs of
cross-attention begin near the identity. So whatever the decoder looks at is at once a vote for its
translation, and training has only to learn where to look.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.layers.attention import Attention
from regard.layers.block import Block
from regard.models.transformer import Transformer

PULL = 1.5  # how strongly a token is drawn to its translations
COPIED = 0.5  # how much of what is looked at is passed on at first


@torch.no_grad()
def start_from_lexicon(
    model: Transformer,
    source: Int[Tensor, " link"],
    target: Int[Tensor, " link"],
    strength: Float[Tensor, " link"],
) -> None:
    """Put tokens that mean each other near each other, and let cross-attention begin by copying."""
    table = model.reading.table
    links = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    both = torch.sparse_coo_tensor(
        links,
        torch.cat([strength, strength]).to(table.dtype),
        (len(table), len(table)),
        check_invariants=True,
    )
    drawn = table / table.norm(dim=1, keepdim=True)
    pulled = drawn + PULL * torch.sparse.mm(both, drawn)
    table.copy_(pulled / pulled.norm(dim=1, keepdim=True))
    for block in model.decoder.blocks:
        assert isinstance(block, Block) and block.cross is not None
        cross = block.cross.part
        assert isinstance(cross, Attention)
        torch.nn.init.eye_(cross.to_value.weight)
        torch.nn.init.eye_(cross.to_output.weight).mul_(COPIED)
