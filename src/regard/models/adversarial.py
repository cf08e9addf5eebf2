"""Pushing the states that enter a model to where its answer suffers most (Miyato et al. 2017).

    r = share · ‖x‖ · g/‖g‖,   g = ∂loss/∂x

x are the states of one text as they enter (of one sentence, where sentences are read side by side).
A model that also has to be right about x + r cannot lean on a few rare runs of words.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.embedding import Embedding

States = Float[Tensor, "_row _position _width"]
"""Of any number of texts: groups of sentences differ in size."""


@contextmanager
def entering(model: nn.Module) -> Iterator[list[States]]:
    """Record the states that enter, one tensor for each time that texts are read."""
    entered: list[States] = []

    def record(_part: nn.Module, _given: object, states: Tensor) -> Tensor:
        states = states if states.requires_grad else states.detach().requires_grad_()  # frozen
        entered.append(states)
        return states

    with _hooked(model, record):
        yield entered


@contextmanager
def pushed(model: nn.Module, pushes: Sequence[States]) -> Iterator[None]:
    """Add a push to what enters, each time that texts are read."""
    left = iter(pushes)

    def push(_part: nn.Module, _given: object, states: Tensor) -> Tensor:
        return states + next(left)

    with _hooked(model, push):
        yield


def pushes(lost: Float[Tensor, ""], entered: Sequence[States], *, share: float) -> list[States]:
    """Say where to push ``entered``, by ``share`` of their length, so that most is lost."""
    slopes = torch.autograd.grad(lost, entered, retain_graph=True)
    return [_along(slope, states, share) for slope, states in zip(slopes, entered, strict=True)]


def _along(slope: States, states: States, share: float) -> States:
    felt = slope.ne(0).any(dim=2, keepdim=True)  # not padding
    long = (states.detach() * felt).flatten(1).norm(dim=1)
    steep = slope.flatten(1).norm(dim=1).clamp(min=torch.finfo(slope.dtype).tiny)
    return slope * (share * long / steep)[:, None, None]


@contextmanager
def _hooked(model: nn.Module, hook: object) -> Iterator[None]:
    readers = [part for part in model.modules() if isinstance(part, Embedding)]
    handles = [part.register_forward_hook(hook) for part in readers]  # type: ignore[arg-type]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
