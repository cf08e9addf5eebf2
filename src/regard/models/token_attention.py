"""Record the attention weights of a pooling over the tokens of one text."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from regard.layers.tap import listen
from regard.models.classifier import Classifier
from regard.models.han import Han, unfold

Recorded = dict[str, list[Tensor]]


class TokenAttention(NamedTuple):
    """Attention weights of the poolings of a model in one text."""

    weights: NDArray[np.float64]
    """Axes: hop, token. A hierarchical model has one hop, and each sentence sums to one."""
    sentence: NDArray[np.int64]
    """Number of each token's sentence; 0 if the model is not hierarchical."""
    sentence_weights: NDArray[np.float64] | None
    """None if the model is not hierarchical."""


@torch.inference_mode()
def record_tokens(
    model: Classifier | Han,
    ids: Int[Tensor, "1 position"],
    forward: Callable[[], Tensor],
) -> tuple[Tensor, TokenAttention]:
    """Run the model on one text; return its logits and the attention weights of its poolings."""
    with listen(model.eval()) as recorded:
        logits = forward()[0]
    if isinstance(model, Han):
        return logits, _sentences(model, ids, recorded)
    hops = recorded["head.pool.looks.weights"][0][0, 0].cpu().double().numpy()
    return logits, TokenAttention(hops, np.zeros(ids.shape[1], dtype=np.int64), None)


def _sentences(model: Han, ids: Int[Tensor, "1 position"], recorded: Recorded) -> TokenAttention:
    """Map the weights of every sentence to the positions of its words in the text."""
    flat, sentence = np.zeros(ids.shape), np.zeros(ids.shape[1], dtype=np.int64)
    unfolded = unfold(ids, ids.new_tensor([ids.shape[1]]), separators=model.separators)
    if len(unfolded.ids):
        real = torch.arange(unfolded.at.shape[1], device=ids.device) < unfolded.lengths[:, None]
        places = unfolded.at[real].cpu().numpy()
        flat[0, places] = recorded["word_weights"][0][real].cpu().numpy()
        sentence[places] = real.nonzero()[:, 0].cpu().numpy()
    among = recorded["head.pool.weights"][0][0, 0, 0].cpu().double().numpy()
    return TokenAttention(flat, sentence, among)
