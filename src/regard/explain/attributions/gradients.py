"""Readings by gradients: how an answer would change if the words' vectors changed a little.

    gradient     (x - x0) · ∂f(x)/∂x                                   (Shrikumar et al. 2016)
    integrated   (x - x0) · ∫₀¹ ∂f(x0 + a·(x - x0))/∂x da              (Sundararajan et al. 2017)

x are the states that enter the model, x0 the same states with every word's own vector taken out:
positions, segments and special tokens stay. A gate stands at every place of the text, and what
enters there is x0 + gate·(x - x0), so that the slope along a gate is the sum above over the state's
features, wherever the model reads that place: a hierarchical network reads a text in groups of
sentences. The integrated gradients of all words add up to f(x) - f(x0), which is checked each time:
more steps are taken until it holds within a hundredth.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.explain.attributions.attribution import Reading, merged
from regard.layers.embedding import Embedding
from regard.tasks.question import TOKENS_AT_ONCE, Positions, Question

FIRST_STEPS, MOST_STEPS = 32, 256
CLOSE = 0.01  # of the difference, or of one where that is smaller


def gradient(question: Question) -> Reading:
    """Read by gradient times input."""
    given, _ = _along(question, [1.0], [1.0])
    told = f"gradient × input: the slope of {question.kind} along each word's own vector"
    return Reading("gradient", merged(given, question.words), told)


def integrated(question: Question) -> Reading:
    """Read by integrated gradients, with as many steps as it takes to be complete."""
    whole = question.evaluate([list(question.ids)])[0]
    _, empty = _along(question, [0.0], [0.0])
    steps, gap = FIRST_STEPS, np.inf
    while True:
        given, _ = _along(question, *_points(steps))
        gap = float(np.abs(given.sum(axis=1) - (whole - empty)).max())
        if gap <= CLOSE * max(1.0, float(np.abs(whole - empty).max())) or steps >= MOST_STEPS:
            break
        steps *= 2
    told = (
        f"integrated gradients of {question.kind}, {steps} steps from a text of empty words; "
        f"they add up to the difference but for {gap:.2g}"
    )
    return Reading("integrated", merged(given, question.words), told)


def _points(steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of an integral from 0 to 1 and what each counts, dense near 0.

    There a norm lifts the faintest trace of a word to full size, so that most of the way is gone
    within a thousandth of it: the integral is taken over t, with share = t³.
    """
    places, weights = np.polynomial.legendre.leggauss(steps)
    t = (places + 1) / 2
    return t**3, 3 * t**2 * weights / 2


def _along(
    question: Question,
    shares: Sequence[float] | NDArray[np.floating],
    weights: Sequence[float] | NDArray[np.floating],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum, over points between empty and whole text, of difference × gradient, by answer and place.

    Comes with the answers at the first of the points.
    """
    ids = list(question.ids)
    at_once = max(1, TOKENS_AT_ONCE // len(ids))
    total = np.zeros((len(question.answers), len(ids)))
    first: NDArray[np.float64] | None = None
    for begin in range(0, len(shares), at_once):
        some = torch.as_tensor(np.asarray(shares[begin : begin + at_once], dtype=np.float64))
        counts = torch.as_tensor(np.asarray(weights[begin : begin + at_once], dtype=np.float64))
        gates = some[:, None].repeat(1, len(ids)).requires_grad_()
        with torch.enable_grad(), _gated(question, gates):
            numbers = question.score([ids] * len(some)).double()
        first = numbers[0].detach().numpy() if first is None else first
        for answer in range(len(total)):
            (slope,) = torch.autograd.grad(counts @ numbers[:, answer], gates, retain_graph=True)
            total[answer] += slope.sum(dim=0).numpy()
    assert first is not None
    return total, first


@contextmanager
def _gated(question: Question, gates: Float[Tensor, "row place"]) -> Iterator[None]:
    """Let every word of the text enter the model as far as its gate is open."""
    model = question.model
    calls = iter(_calls(question, len(gates)))
    words = torch.zeros(len(question.ids), dtype=torch.bool)
    for word in question.erasable:
        words[question.words[word]] = True
    emptying = False

    def hook(
        part: nn.Module, given: tuple[Any, ...], named: dict[str, Any], states: Tensor
    ) -> Tensor | None:
        nonlocal emptying
        if emptying or (places := next(calls, None)) is None:
            return None
        assert isinstance(part, Embedding)
        emptying = True  # reading the empty text calls this hook as well
        whole = states.detach()
        own = whole - _emptied(part, given, named)
        emptying = False
        row, place = places
        left_out = torch.where(words[place], 1 - gates[row, place], 0.0).to(whole.dtype)
        rest = whole.shape[1] - left_out.shape[1]  # what was written after the text
        return whole - nn.functional.pad(left_out, (0, rest))[:, :, None] * own

    parts = [part for part in model.modules() if isinstance(part, Embedding)]
    hooks = [part.register_forward_hook(hook, with_kwargs=True) for part in parts]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()


def _calls(question: Question, rows: int) -> list[Positions]:
    """Say what each call of the embedding reads of ``rows`` copies of the text, others after it."""
    if question.hierarchy is not None:
        return question.hierarchy.calls(rows)
    return [Positions(torch.arange(rows)[:, None], torch.arange(len(question.ids))[None])]


@torch.no_grad()
def _emptied(part: Embedding, given: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
    """Read the same ids, every token's and run's own vector taken as zero."""
    own = {
        name: torch.zeros_like(parameter)
        for name, parameter in part.named_parameters()
        if name == "table" or name.startswith("ngrams.")
    }
    return torch.func.functional_call(part, own, given, named)
