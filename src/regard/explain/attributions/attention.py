"""Attributions by attention: raw weights of the predicting states, and attention rollout.

    weights    attention weights of the states that predict an answer, of one layer: head or mean
    rollout    R_l = (A_l + 1)/2 · R_(l-1), A_l the mean over heads   (Abnar and Zuidema 2020)

Rollout multiplies attention through the layers; half of each state is the residual. A decoder has
two such steps per layer, its own past and the source; what is shown is the share that ends at the
source.
"""

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.explain.alignment import MapIndex
from regard.explain.attributions.attribution import Attribution, merge_pieces
from regard.explain.record_attention import Stacks, record_attention
from regard.tasks.question import Question


def attribute_by_weights(question: Question, shown: MapIndex | None = None) -> Attribution:
    """Score words by the attention of the predicting states; by default the last layer's mean.

    Where a pooling attends, its weights are taken, whatever ``shown`` is of the layers below it.
    """
    stacks = _record(question)
    stack = next(name for name in ("cross", "pool", "self", *stacks) if name in stacks)
    if shown is None or stack == "pool":
        shown = MapIndex(len(stacks[stack]) - 1, None)
    layer = stacks[stack][shown.layer]
    weights = layer.mean(axis=0) if shown.head is None else layer[shown.head]
    if stack == "pool":
        weights = weights.mean(axis=0, keepdims=True)
    else:
        weights = _predicting(question, stacks) @ weights
    description = f"attention weights of the predicting states ({stack}, {shown.name})"
    return Attribution("weights", _score_words(question, weights), description)


def attribute_by_rollout(question: Question) -> Attribution:
    """Score words by attention rollout."""
    stacks = _record(question)
    weights = _predicting(question, stacks)
    if "cross" in stacks:
        encoder = roll_out(stacks["encoder"]) if "encoder" in stacks else None
        weights = weights @ _roll_out_decoder(stacks, encoder)
    elif "self" in stacks:
        weights = weights @ roll_out(stacks["self"])
    description = "attention rollout through the layers, half of every state from the residual"
    return Attribution("rollout", _score_words(question, weights), description)


def roll_out(layers: NDArray[np.floating]) -> NDArray[np.float64]:
    """Multiply the self-attention of all layers; rows sum to one."""
    rolled = np.eye(layers.shape[-1])
    for layer in layers:
        rolled = (layer.mean(axis=0) @ rolled + rolled) / 2
    return rolled


def _roll_out_decoder(stacks: Stacks, encoder: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Multiply self- and cross-attention, from every written word to the source's words."""
    cross = stacks["cross"]
    own = stacks.get("decoder")
    source = np.eye(cross.shape[-1]) if encoder is None else encoder
    reached = np.zeros((cross.shape[-2], cross.shape[-1]))
    for number, layer in enumerate(cross):
        if own is not None:
            reached = (own[number].mean(axis=0) @ reached + reached) / 2
        reached = (layer.mean(axis=0) @ source + reached) / 2
    return reached


def _record(question: Question) -> Stacks:
    stacks = record_attention(question.model, question.forward).stacks
    if not stacks:
        raise UsageError(
            "weights and rollout need attention. This model has none.",
            "Take --attribution gradient, integrated-gradients or occlusion.",
        )
    return stacks


def _predicting(question: Question, stacks: Stacks) -> NDArray[np.float64]:
    """Return which states predict each answer: those that a pooling attends to, if one does."""
    if "pool" in stacks:
        return stacks["pool"][0, 0].mean(axis=0, keepdims=True).astype(np.float64)
    return question.predicting


def _score_words(question: Question, weights: NDArray[np.floating]) -> NDArray[np.float64]:
    return merge_pieces(weights[:, : len(question.ids)], question.words)
