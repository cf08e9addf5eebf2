"""Initialise token embeddings by latent semantic analysis (LSA, Deerwester et al. 1990).

    X = (1 + ln tf)·idf, unit rows  ≈  U S Vᵀ        embedding of token t: S·V(t)

With zero-initialised blocks the body starts as this analysis.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.layers.weighted_mean import WeightedMean
from regard.models.bi_encoder import BiEncoder

ROUNDS = 4  # power iterations of the randomised SVD (Halko et al. 2011)
LEAST = 0.05  # minimum inverse document frequency

Postings = Int[Tensor, "2 posting"]
"""All pairs of a document and a token in it."""


def inverse_document_frequency(
    postings: Postings, *, shape: tuple[int, int]
) -> Float[Tensor, " token"]:
    """Return ln(N / n(t)), at least LEAST; ``shape`` is the number of documents and of tokens."""
    having = torch.bincount(postings[1], minlength=shape[1])
    return torch.log(shape[0] / having.clamp(min=1).float()).clamp(min=LEAST)


@torch.no_grad()
def initialise_idf_weights(model: BiEncoder, postings: Postings, *, shape: tuple[int, int]) -> None:
    """Initialise a weighted mean with inverse document frequencies."""
    assert isinstance(model.pool, WeightedMean)
    unseen = torch.bincount(postings[1], minlength=shape[1]) == 0
    model.pool.importance.copy_(
        inverse_document_frequency(postings, shape=shape).masked_fill(unseen, LEAST).log()
    )


@torch.no_grad()
def compute_lsa_vectors(
    postings: Postings,
    counts: Float[Tensor, " posting"],
    *,
    shape: tuple[int, int],
    width: int,
) -> Float[Tensor, "token width"]:
    """Return a vector per token; features beyond the rank of the matrix are 0."""
    documents, tokens = postings
    values = (1 + counts.log()) * inverse_document_frequency(postings, shape=shape)[tokens]
    lengths = torch.zeros(shape[0]).index_add_(0, documents, values.square()).sqrt()
    values = values / lengths[documents].clamp(min=1e-9)
    matrix = torch.sparse_coo_tensor(postings, values, shape, check_invariants=True).coalesce()
    rank = min(width, *shape)
    _, strengths, vectors = torch.svd_lowrank(matrix, q=rank, niter=ROUNDS)
    found = torch.zeros(shape[1], width)
    found[:, :rank] = vectors * strengths
    return found


@torch.no_grad()
def initialise_from_lsa(model: BiEncoder, vectors: Float[Tensor, "token width"]) -> None:
    """Set the token embeddings to the normalised vectors; tokens without one are not changed.

    A weighted mean keeps the norms of the vectors as weights.
    """
    table, lengths = model.body.reading.table, vectors.norm(dim=1)
    known = lengths > 1e-6
    table[known] = vectors[known] / lengths[known, None]
    if isinstance(model.pool, WeightedMean):
        model.pool.importance[known] += lengths[known].log()
