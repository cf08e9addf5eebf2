"""Readings by attention: the raw weights of the states that spoke, and attention rollout.

    weights    where the states that speak for an answer looked, in one layer, by one head or mean
    rollout    R_l = (A_l + 1)/2 · R_(l-1), A_l the mean over heads   (Abnar and Zuidema 2020)

Rollout follows looks down the layers, half of every state coming past each look unmixed. A decoder
halves twice, at its own past and at the source; what it shows is the share that ends at the source.
"""

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.explain.alignment import Look
from regard.explain.attributions.attribution import Reading, merged
from regard.explain.record_attention import Stacks, record_attention
from regard.tasks.question import Question


def weights(question: Question, look: Look | None = None) -> Reading:
    """Read by where the speaking states looked; by default the mean over the last layer's heads.

    A pool that looks speaks for the answer, whatever ``look`` is shown of the layers below it.
    """
    stacks = _heard(question)
    stack = _asked_stack(stacks)
    if look is None or stack == "pool":
        look = Look(len(stacks[stack]) - 1, None)
    layer = stacks[stack][look.layer]
    seen = layer.mean(axis=0) if look.head is None else layer[look.head]
    seen = (
        seen.mean(axis=0, keepdims=True) if stack == "pool" else _readers(question, stacks) @ seen
    )
    told = f"weights: where the states that speak looked ({stack}, {look.name})"
    return Reading("weights", _columns(question, seen), told)


def rollout(question: Question) -> Reading:
    """Read by following looks down to the words."""
    stacks = _heard(question)
    read = _readers(question, stacks)
    if "cross" in stacks:
        encoder = rolled_up(stacks["encoder"]) if "encoder" in stacks else None
        seen = read @ _through_a_decoder(stacks, encoder)
    elif "self" in stacks:
        seen = read @ rolled_up(stacks["self"])
    else:
        seen = read
    told = "attention rollout: looks followed down the layers, half of every state coming past"
    return Reading("rollout", _columns(question, seen), told)


def rolled_up(layers: NDArray[np.floating]) -> NDArray[np.float64]:
    """Follow looks of a text at itself down to its words; rows sum to one."""
    rolled = np.eye(layers.shape[-1])
    for layer in layers:
        rolled = (layer.mean(axis=0) @ rolled + rolled) / 2
    return rolled


def _through_a_decoder(stacks: Stacks, encoder: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Follow looks from every written word to the source's words."""
    cross = stacks["cross"]
    own = stacks.get("decoder")
    source = np.eye(cross.shape[-1]) if encoder is None else encoder
    reached = np.zeros((cross.shape[-2], cross.shape[-1]))
    for number, layer in enumerate(cross):
        if own is not None:
            reached = (own[number].mean(axis=0) @ reached + reached) / 2
        reached = (layer.mean(axis=0) @ source + reached) / 2
    return reached


def _heard(question: Question) -> Stacks:
    stacks = record_attention(question.model, question.forward).stacks
    if not stacks:
        raise UsageError(
            "raw weights and rollout need attention. This model has none.",
            "Take --reading gradient, integrated or occlusion.",
        )
    return stacks


def _asked_stack(stacks: Stacks) -> str:
    return next(name for name in ("cross", "pool", "self", *stacks) if name in stacks)


def _readers(question: Question, stacks: Stacks) -> NDArray[np.float64]:
    """Say which states speak; a pool that looks says so itself."""
    if "pool" in stacks:
        return stacks["pool"][0, 0].mean(axis=0, keepdims=True).astype(np.float64)
    return question.predicting


def _columns(question: Question, seen: NDArray[np.floating]) -> NDArray[np.float64]:
    return merged(seen[:, : len(question.ids)], question.words)
