"""What documents show before the first step: how rare tokens are, and which stand together.

    X = (1 + ln tf)·idf, rows of length one  ≈  U S Vᵀ        token t begins at S·V(t)

(Latent semantic analysis: Deerwester et al. 1990.) A body that at first adds nothing then begins as
that analysis, and training goes on from there.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.layers.weighted_mean import WeightedMean
from regard.models.bi_encoder import BiEncoder

ROUNDS = 4  # of the randomised decomposition (Halko et al. 2011)
LEAST = 0.05  # what a token in every document counts

Postings = Int[Tensor, "2 posting"]
"""Every document and token that it has, once."""


def rarity(postings: Postings, *, shape: tuple[int, int]) -> Float[Tensor, " token"]:
    """ln(N / n(t)), at least a little; ``shape`` is the number of documents and of tokens."""
    having = torch.bincount(postings[1], minlength=shape[1])
    return torch.log(shape[0] / having.clamp(min=1).float()).clamp(min=LEAST)


@torch.no_grad()
def weigh_by_rarity(model: BiEncoder, postings: Postings, *, shape: tuple[int, int]) -> None:
    """Let a mean begin with rare tokens counting for more; those in no document for nothing."""
    assert isinstance(model.pool, WeightedMean)
    unseen = torch.bincount(postings[1], minlength=shape[1]) == 0
    model.pool.importance.copy_(rarity(postings, shape=shape).masked_fill(unseen, LEAST).log())


@torch.no_grad()
def topic_vectors(
    postings: Postings,
    counts: Float[Tensor, " posting"],
    *,
    shape: tuple[int, int],
    width: int,
) -> Float[Tensor, "token width"]:
    """Return a vector per token; features that the corpus is too small for are 0."""
    documents, tokens = postings
    values = (1 + counts.log()) * rarity(postings, shape=shape)[tokens]
    lengths = torch.zeros(shape[0]).index_add_(0, documents, values.square()).sqrt()
    values = values / lengths[documents].clamp(min=1e-9)
    matrix = torch.sparse_coo_tensor(postings, values, shape, check_invariants=True).coalesce()
    rank = min(width, *shape)
    _, strengths, vectors = torch.svd_lowrank(matrix, q=rank, niter=ROUNDS)
    found = torch.zeros(shape[1], width)
    found[:, :rank] = vectors * strengths
    return found


@torch.no_grad()
def start_from_topics(model: BiEncoder, vectors: Float[Tensor, "token width"]) -> None:
    """Put the vectors into the table of tokens, each of length one; tokens without one stay.

    How long a vector was says how much its token tells of topics: a weighted mean keeps that.
    """
    table, lengths = model.body.reading.table, vectors.norm(dim=1)
    known = lengths > 1e-6
    table[known] = vectors[known] / lengths[known, None]
    if isinstance(model.pool, WeightedMean):
        model.pool.importance[known] += lengths[known].log()
