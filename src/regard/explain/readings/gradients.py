"""Readings by gradients: how an answer would change if the words' vectors changed a little.

    gradient     (x - x0) · ∂f(x)/∂x                                   (Shrikumar et al. 2016)
    integrated   (x - x0) · ∫₀¹ ∂f(x0 + a·(x - x0))/∂x da              (Sundararajan et al. 2017)

x are the states that enter the model, x0 the same states with every word's own vector taken out:
positions, segments and special tokens stay. The integrated gradients of all words add up to
f(x) - f(x0), which is checked each time: more steps are taken until it holds within a hundredth.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.explain.readings.question import ASKED_AT_ONCE, Question
from regard.explain.readings.reading import Reading, merged
from regard.layers.embedding import Embedding

FIRST_STEPS, MOST_STEPS = 32, 256
CLOSE = 0.01  # of the difference, or of one where that is smaller

Change = Callable[[Embedding, tuple[Any, ...], dict[str, Any], Tensor], Tensor]
"""From a reading, what it was given and the states it gave, to the states that go on."""


def gradient(question: Question) -> Reading:
    """Read by gradient times input."""
    given, _ = _along(question, [1.0], [1.0])
    told = f"gradient × input: the slope of {question.kind} along each word's own vector"
    return Reading("gradient", merged(given, question.words), told)


def integrated(question: Question) -> Reading:
    """Read by integrated gradients, with as many steps as it takes to be complete."""
    whole = question.numbers([list(question.ids)])[0]
    _, empty = _along(question, [0.0], [0.0])
    steps, gap = FIRST_STEPS, np.inf
    while True:
        places, weights = np.polynomial.legendre.leggauss(steps)
        given, _ = _along(question, (places + 1) / 2, weights / 2)
        gap = float(np.abs(given.sum(axis=1) - (whole - empty)).max())
        if gap <= CLOSE * max(1.0, float(np.abs(whole - empty).max())) or steps >= MOST_STEPS:
            break
        steps *= 2
    told = (
        f"integrated gradients of {question.kind}, {steps} steps from a text of empty words; "
        f"they add up to the difference but for {gap:.2g}"
    )
    return Reading("integrated", merged(given, question.words), told)


def _along(
    question: Question,
    shares: Sequence[float] | NDArray[np.floating],
    weights: Any,  # noqa: ANN401
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum, over points between empty and whole text, of difference × gradient, by answer and place.

    Comes with the answers at the first of the points.
    """
    ids, model = list(question.ids), question.run.model
    at_once = max(1, ASKED_AT_ONCE // len(ids))
    total = np.zeros((len(question.answers), len(ids)))
    first: NDArray[np.float64] | None = None
    for begin in range(0, len(shares), at_once):
        some = torch.as_tensor(np.asarray(shares[begin : begin + at_once]), dtype=torch.float32)
        counts = torch.as_tensor(np.asarray(weights[begin : begin + at_once]), dtype=torch.float32)
        path = _Path(question, some)
        with torch.enable_grad(), entering(model, path):
            numbers = question.ask([ids] * len(some))
        first = numbers[0].detach().double().numpy() if first is None else first
        for answer in range(len(total)):
            (slope,) = torch.autograd.grad(
                (numbers[:, answer] * counts).sum(), path.entered, retain_graph=True
            )
            felt = (slope * path.difference).sum(dim=(0, 2))
            total[answer] += felt[: len(ids)].double().numpy()
    assert first is not None
    return total, first


class _Path:
    """Puts states between those of the empty text and those of the whole in the words' places."""

    def __init__(self, question: Question, shares: Tensor) -> None:
        self.question, self.shares = question, shares
        self.entered = self.difference = torch.empty(0)

    def __call__(
        self, part: Embedding, given: tuple[Any, ...], named: dict[str, Any], states: Tensor
    ) -> Tensor:
        whole = states.detach()
        empty = _emptied(part, given, named)
        words = torch.zeros(states.shape[1], 1, dtype=torch.bool)
        for word in self.question.erasable:
            words[self.question.words[word]] = True
        self.difference = torch.where(words, whole - empty, 0.0)
        left_out = (1 - self.shares)[:, None, None].to(whole.dtype)
        self.entered = (whole - left_out * self.difference).requires_grad_()
        return self.entered


@torch.no_grad()
def _emptied(part: Embedding, given: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
    """Read the same ids, every token's and run's own vector taken as zero."""
    own = {
        name: torch.zeros_like(parameter)
        for name, parameter in part.named_parameters()
        if name == "table" or name.startswith("ngrams.")
    }
    return torch.func.functional_call(part, own, given, named)


@contextmanager
def entering(model: nn.Module, change: Change) -> Iterator[None]:
    """Let ``change`` put other states in place of those that the model's first reading gives."""
    calls = 0

    def hook(
        part: nn.Module, given: tuple[Any, ...], named: dict[str, Any], states: Tensor
    ) -> Tensor | None:
        nonlocal calls
        calls += 1
        assert isinstance(part, Embedding)
        return change(part, given, named, states) if calls == 1 else None

    parts = [part for part in model.modules() if isinstance(part, Embedding)]
    hooks = [part.register_forward_hook(hook, with_kwargs=True) for part in parts]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()
