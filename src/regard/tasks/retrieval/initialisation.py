"""Initialization from token counts: inverse document frequencies and latent topics."""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.store import Store
from regard.models.bi_encoder import BiEncoder
from regard.models.topics import compute_lsa_vectors, initialise_from_lsa, initialise_idf_weights
from regard.recipe.retrieval import RetrievalSettings

MOST = 50_000  # documents counted


def initialize(model: BiEncoder, store: Store, settings: RetrievalSettings, *, tokens: int) -> None:
    """Initialize embeddings and term weights as the recipe says."""
    if settings.start == "random" and settings.term_weights == "even":
        return
    postings, counts, documents = count_tokens(store)
    shape = (documents, tokens)
    if settings.term_weights != "even":
        initialise_idf_weights(model, postings, shape=shape)
    if settings.start == "topics":
        width = model.body.reading.table.shape[1]
        initialise_from_lsa(model, compute_lsa_vectors(postings, counts, shape=shape, width=width))


def count_tokens(store: Store) -> tuple[Int[Tensor, "2 posting"], Float[Tensor, " posting"], int]:
    """Count the tokens of every document; return postings, counts and the number of documents.

    The query of a labelled pair counts as part of its document.
    """
    every = np.linspace(0, len(store) - 1, min(len(store), MOST)).astype(np.int64)
    documents, tokens, counts = [], [], []
    for place, number in enumerate(every.tolist()):
        query, text, _ = store[number]
        found, often = np.unique(np.concatenate([query, text]), return_counts=True)
        documents.append(np.full(len(found), place))
        tokens.append(found.astype(np.int64))
        counts.append(often)
    postings = np.stack([np.concatenate(documents), np.concatenate(tokens)])
    often = np.concatenate(counts).astype(np.float32)
    return torch.from_numpy(postings), torch.from_numpy(often), len(every)
