"""How often a batch is read to learn from it: once, with other dropout again, or pushed again."""

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from regard.models.adversarial import entering, pushed, pushes
from regard.models.self_attentive import Passed, penalised
from regard.recipe.recipe import Recipe

Read = Callable[[], Tensor]
"""Gives a batch's logits."""


def passes_of(
    recipe: Recipe, model: nn.Module, read: Read, lost: Callable[[Tensor], Tensor]
) -> Sequence[Passed]:
    """Read a batch as often as ``recipe`` asks; ``lost`` says what logits lose in sum."""
    training = recipe.training
    if model.training and training.adversarial:
        with entering(model) as entered:
            first = _passed(recipe, model, read)
        with pushed(model, pushes(lost(first.logits), entered, share=training.adversarial)):
            return first, _passed(recipe, model, read)
    twice = model.training and training.consistency
    return [_passed(recipe, model, read) for _ in range(2 if twice else 1)]


def _passed(recipe: Recipe, model: nn.Module, read: Read) -> Passed:
    """Logits, and what is lost by looks that are alike, where training asks for it."""
    head, hops = recipe.model.head, recipe.model.head.hops
    if not model.training or head.pooling != "hops" or hops.penalty == "none":
        logits = read()
        return Passed(logits, logits.new_zeros(len(logits)))
    passed = penalised(model, read, penalty=hops.penalty)
    return Passed(passed.logits, hops.penalty_weight * passed.penalty)
