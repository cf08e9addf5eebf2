"""Runs of tokens that have vectors of their own: those that stand in several texts.

A run that stands in one text alone leans as that text does: its vector learns the text by heart,
and the row it shares with others is spoiled for them. IMDB's reviews hold 5.5 million runs of three
tokens; 0.6 million of them stand in four reviews or more.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.embedding import KNOWN, Ngrams
from regard.models.ngram_index import Ids, Joined, chunks


def filter_ngrams(model: nn.Module, texts: Iterable[Ids], *, least: int) -> None:
    """Leave vectors to runs that stand in at least so many texts."""
    layers = [part for part in model.modules() if isinstance(part, Ngrams)]
    if least < 2 or not layers:
        return
    known = known_runs(layers[0], texts, least=least)
    for layer in layers:
        layer.know(known)


def known_runs(layer: Ngrams, texts: Iterable[Ids], *, least: int) -> Tensor:
    """Count in how many texts each run stands, by the bits of its hash; a bit is what is kept."""
    counts = np.zeros((len(layer.tables), KNOWN + 1), dtype=np.int32)
    for some in chunks(texts):
        for count, places in zip(counts, _places(layer, some), strict=True):
            found, texts_with = np.unique(places, return_counts=True)
            count[found] += texts_with.astype(np.int32)
    return torch.from_numpy(np.packbits(counts >= least, axis=1, bitorder="little"))


def _places(layer: Ngrams, texts: list[Ids]) -> Iterator[NDArray[np.int64]]:
    """Hash the runs of texts, each once for every text it stands in; shortest first."""
    reach = layer.longest - 1
    joined = Joined(texts, reach)
    for run in layer.runs(joined.ids[None], len(joined.ids) - reach):
        places = (run[0] & KNOWN).numpy()
        keys = np.unique((joined.owner << KNOWN.bit_length() | places)[joined.inside])
        yield keys & KNOWN
