"""Forward passes of a training step: one, or a second one with other dropout or perturbed."""

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from regard.models.adversarial import compute_perturbations, perturb_embeddings, record_embeddings
from regard.models.self_attentive import PenalisedLogits, forward_with_penalty
from regard.recipe.recipe import Recipe

Read = Callable[[], Tensor]
"""Gives a batch's logits."""


def passes_of(
    recipe: Recipe, model: nn.Module, read: Read, lost: Callable[[Tensor], Tensor]
) -> Sequence[PenalisedLogits]:
    """Read a batch as often as ``recipe`` asks; ``lost`` says what logits lose in sum."""
    training = recipe.training
    if model.training and training.adversarial:
        with record_embeddings(model) as entered:
            first = _forward(recipe, model, read)
        with perturb_embeddings(
            model, compute_perturbations(lost(first.logits), entered, share=training.adversarial)
        ):
            return first, _forward(recipe, model, read)
    twice = model.training and training.consistency
    return [_forward(recipe, model, read) for _ in range(2 if twice else 1)]


def _forward(recipe: Recipe, model: nn.Module, read: Read) -> PenalisedLogits:
    """Logits, and the penalty for similar hops where the recipe sets one."""
    head, hops = recipe.model.head, recipe.model.head.hops
    if not model.training or head.pooling != "hops" or hops.penalty == "none":
        logits = read()
        return PenalisedLogits(logits, logits.new_zeros(len(logits)))
    passed = forward_with_penalty(model, read, penalty=hops.penalty)
    return PenalisedLogits(passed.logits, hops.penalty_weight * passed.penalty)
