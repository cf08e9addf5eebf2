"""Attention of a pooling over the tokens of one text: of each hop, or sentence by sentence."""

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
    """Where the poolings of a model attended in one text."""

    weights: NDArray[np.float64]
    """Axes: hop, token. Of sentences there is one hop, and each sentence sums to one."""
    sentence: NDArray[np.int64]
    """Which sentence each token stands in; 0 where the text is not read by sentences."""
    sentence_weights: NDArray[np.float64] | None
    """None where the text is not read by sentences."""


@torch.inference_mode()
def record_tokens(
    model: Classifier | Han,
    ids: Int[Tensor, "1 position"],
    forward: Callable[[], Tensor],
) -> tuple[Tensor, TokenAttention]:
    """Run the model over one text; return its logits, and where its poolings attended."""
    with listen(model.eval()) as recorded:
        logits = forward()[0]
    if isinstance(model, Han):
        return logits, _sentences(model, ids, recorded)
    hops = recorded["head.pool.looks.weights"][0][0, 0].cpu().double().numpy()
    return logits, TokenAttention(hops, np.zeros(ids.shape[1], dtype=np.int64), None)


def _sentences(model: Han, ids: Int[Tensor, "1 position"], recorded: Recorded) -> TokenAttention:
    """Put the weights of every sentence where its words stand in the text."""
    flat, sentence = np.zeros(ids.shape), np.zeros(ids.shape[1], dtype=np.int64)
    unfolded = unfold(ids, ids.new_tensor([ids.shape[1]]), marks=model.marks)
    if len(unfolded.ids):
        real = torch.arange(unfolded.at.shape[1], device=ids.device) < unfolded.lengths[:, None]
        places = unfolded.at[real].cpu().numpy()
        flat[0, places] = recorded["word_weights"][0][real].cpu().numpy()
        sentence[places] = real.nonzero()[:, 0].cpu().numpy()
    among = recorded["head.pool.weights"][0][0, 0, 0].cpu().double().numpy()
    return TokenAttention(flat, sentence, among)
