"""Initialise a translator from a lexicon.

    E = normed(R + 1.5·A·R)        R random, A the lexicon's strengths, symmetric

Translations of each other start with similar embeddings in the shared table. Values and outputs of
cross-attention start near the identity. So attention to a source token raises the logit of its
translation from the start, and training has to learn the alignment only.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.layers.attention import Attention
from regard.layers.block import Block
from regard.models.transformer import Transformer

PULL = 1.5  # weight of a token's translations in its embedding
COPIED = 0.5  # initial gain of cross-attention's output


@torch.no_grad()
def start_from_lexicon(
    model: Transformer,
    source: Int[Tensor, " link"],
    target: Int[Tensor, " link"],
    strength: Float[Tensor, " link"],
) -> None:
    """Give translations similar embeddings, and initialise cross-attention to copy."""
    table = model.reading.table
    links = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    both = torch.sparse_coo_tensor(
        links,
        torch.cat([strength, strength]).to(table.dtype),
        (len(table), len(table)),
        check_invariants=True,
    )
    random = table / table.norm(dim=1, keepdim=True)
    mixed = random + PULL * torch.sparse.mm(both, random)
    table.copy_(mixed / mixed.norm(dim=1, keepdim=True))
    for block in model.decoder.blocks:
        assert isinstance(block, Block) and block.cross is not None
        cross = block.cross.part
        assert isinstance(cross, Attention)
        torch.nn.init.eye_(cross.to_value.weight)
        torch.nn.init.eye_(cross.to_output.weight).mul_(COPIED)
