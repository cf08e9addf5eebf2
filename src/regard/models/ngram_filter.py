"""Restrict n-gram embeddings to n-grams that occur in several texts.

An n-gram unique to one text memorises its label, and spoils the row that it shares with others.
IMDB's reviews contain 5.5 million trigrams; 0.6 million of them occur in four reviews or more.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.embedding import HASH_MASK, Ngrams
from regard.models.ngram_index import Ids, JoinedTexts, chunks


def filter_ngrams(model: nn.Module, texts: Iterable[Ids], *, least: int) -> None:
    """Restrict embeddings to n-grams that occur in at least ``least`` texts."""
    layers = [part for part in model.modules() if isinstance(part, Ngrams)]
    if least < 2 or not layers:
        return
    known = find_frequent_ngrams(layers[0], texts, least=least)
    for layer in layers:
        layer.restrict(known)


def find_frequent_ngrams(layer: Ngrams, texts: Iterable[Ids], *, least: int) -> Tensor:
    """Return a bit for each hash: whether its n-gram occurs in at least ``least`` texts."""
    counts = np.zeros((len(layer.tables), HASH_MASK + 1), dtype=np.int32)
    for some in chunks(texts):
        for count, places in zip(counts, _places(layer, some), strict=True):
            found, texts_with = np.unique(places, return_counts=True)
            count[found] += texts_with.astype(np.int32)
    return torch.from_numpy(np.packbits(counts >= least, axis=1, bitorder="little"))


def _places(layer: Ngrams, texts: list[Ids]) -> Iterator[NDArray[np.int64]]:
    """Hash the n-grams of texts, each once per text; shortest first."""
    reach = layer.longest - 1
    joined = JoinedTexts(texts, reach)
    for hashed in layer.hashes(joined.ids[None], len(joined.ids) - reach):
        places = (hashed[0] & HASH_MASK).numpy()
        keys = np.unique((joined.owner << HASH_MASK.bit_length() | places)[joined.inside])
        yield keys & HASH_MASK
