"""Adversarial training on embeddings: the fast gradient method (FGM, Miyato et al. 2017).

    r = share · ‖x‖ · g/‖g‖,   g = ∂loss/∂x

x are the embeddings of one text (of one sentence in a hierarchical model). Trained on x + r as
well, a model relies less on a few rare n-grams.
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
def record_embeddings(model: nn.Module) -> Iterator[list[States]]:
    """Record the output of the embedding layer, one tensor per call."""
    entered: list[States] = []

    def record(_part: nn.Module, _given: object, states: Tensor) -> Tensor:
        states = states if states.requires_grad else states.detach().requires_grad_()  # frozen
        entered.append(states)
        return states

    with _hook_layers(model, record):
        yield entered


@contextmanager
def perturb_embeddings(model: nn.Module, perturbations: Sequence[States]) -> Iterator[None]:
    """Add a perturbation to the output of the embedding layer, one per call."""
    left = iter(perturbations)

    def perturb(_part: nn.Module, _given: object, states: Tensor) -> Tensor:
        return states + next(left)

    with _hook_layers(model, perturb):
        yield


def compute_perturbations(
    loss: Float[Tensor, ""], entered: Sequence[States], *, share: float
) -> list[States]:
    """Return perturbations along the gradient, with the norm of the embeddings times ``share``."""
    gradients = torch.autograd.grad(loss, entered, retain_graph=True)
    return [_scale(slope, states, share) for slope, states in zip(gradients, entered, strict=True)]


def _scale(gradient: States, states: States, share: float) -> States:
    real = gradient.ne(0).any(dim=2, keepdim=True)  # not padding
    norm = (states.detach() * real).flatten(1).norm(dim=1)
    steepness = gradient.flatten(1).norm(dim=1).clamp(min=torch.finfo(gradient.dtype).tiny)
    return gradient * (share * norm / steepness)[:, None, None]


@contextmanager
def _hook_layers(model: nn.Module, hook: object) -> Iterator[None]:
    layers = [part for part in model.modules() if isinstance(part, Embedding)]
    handles = [part.register_forward_hook(hook) for part in layers]  # type: ignore[arg-type]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
