"""Attributions by gradients: how an answer changes with the vectors of the words.

    gradient × input         (x - x0) · ∂f(x)/∂x                       (Shrikumar et al. 2016)
    integrated gradients     (x - x0) · ∫₀¹ ∂f(x0 + a·(x - x0))/∂x da  (Sundararajan et al. 2017)

x are the states that enter the model, x0 the baseline: the same states without the words' own
vectors; positions, segments and special tokens stay. Every position of the text has a gate, and
x0 + gate·(x - x0) enters there, so that the gradient of a gate is the sum above over the state's
features, wherever the model reads that position: a hierarchical network reads a text in groups of
sentences. The integrated gradients of all words add up to f(x) - f(x0) (completeness), which is
checked each time: steps are doubled until it holds within a hundredth.

The other members of an ensemble are not differentiable: what they contribute is the drop when a
word is left out for them alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.explain.attributions.attribution import Attribution, merge_pieces
from regard.explain.attributions.occlusion import leave_out
from regard.layers.embedding import Embedding
from regard.tasks.question import TOKENS_AT_ONCE, Positions, Question

FIRST_STEPS, MOST_STEPS = 32, 256
CLOSE = 0.01  # of the difference, or of one where that is smaller


def attribute_by_gradient(question: Question) -> Attribution:
    """Multiply gradient and input."""
    scores, _ = _sum_gradients(question, [1.0], [1.0])
    words = merge_pieces(scores, question.words) + leave_out(question, question.others)
    return Attribution("gradient", words, f"gradient × input of {question.kind}")


def integrate_gradients(question: Question) -> Attribution:
    """Integrate gradients, with as many steps as it takes to be complete."""
    whole = question.evaluate([list(question.ids)])[0]
    _, empty = _sum_gradients(question, [0.0], [0.0])
    steps, gap = FIRST_STEPS, np.inf
    while True:
        scores, _ = _sum_gradients(question, *_choose_points(steps))
        gap = float(np.abs(scores.sum(axis=1) - (whole - empty)).max())
        if gap <= CLOSE * max(1.0, float(np.abs(whole - empty).max())) or steps >= MOST_STEPS:
            break
        steps *= 2
    description = (
        f"integrated gradients of {question.kind}, {steps} steps from a baseline of empty words; "
        f"completeness gap {gap:.2g}"
    )
    words = merge_pieces(scores, question.words) + leave_out(question, question.others)
    return Attribution("integrated-gradients", words, description)


def _choose_points(steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points and weights of an integral from 0 to 1 (Gauss-Legendre), dense near 0.

    There a norm scales the faintest trace of a word to full size, so that most of the change falls
    within the first thousandth: the integral is taken over t, with share = t³.
    """
    places, weights = np.polynomial.legendre.leggauss(steps)
    t = (places + 1) / 2
    return t**3, 3 * t**2 * weights / 2


def _sum_gradients(
    question: Question,
    shares: Sequence[float] | NDArray[np.floating],
    weights: Sequence[float] | NDArray[np.floating],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum (x - x0) × gradient over points between baseline and text, by answer and position.

    Also return the numbers at the first point.
    """
    ids = list(question.ids)
    at_once = max(1, TOKENS_AT_ONCE // len(ids))
    total = np.zeros((len(question.answers), len(ids)))
    first: NDArray[np.float64] | None = None
    for begin in range(0, len(shares), at_once):
        some = torch.as_tensor(np.asarray(shares[begin : begin + at_once], dtype=np.float64))
        counts = torch.as_tensor(np.asarray(weights[begin : begin + at_once], dtype=np.float64))
        gates = some[:, None].repeat(1, len(ids)).requires_grad_()
        with torch.enable_grad(), _gate_words(question, gates):
            numbers = question.score([ids] * len(some)).cpu().double()
        first = numbers[0].detach().numpy() if first is None else first
        for answer in range(len(total)):
            (slope,) = torch.autograd.grad(counts @ numbers[:, answer], gates, retain_graph=True)
            total[answer] += slope.sum(dim=0).numpy()
    assert first is not None
    return total, first


@contextmanager
def _gate_words(question: Question, gates: Float[Tensor, "row place"]) -> Iterator[None]:
    """Scale every word's own vector by its gate as it enters the model."""
    model = question.model
    calls = iter(_list_calls(question, len(gates)))
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
        emptying = True  # embedding the empty words calls this hook as well
        whole = states.detach()
        own = whole - _embed_empty(part, given, named)
        emptying = False
        row, place = places
        left_out = torch.where(words[place], 1 - gates[row, place], 0.0).to(whole)
        rest = whole.shape[1] - left_out.shape[1]  # what was written after the text
        return whole - nn.functional.pad(left_out, (0, rest))[:, :, None] * own

    parts = [part for part in model.modules() if isinstance(part, Embedding)]
    hooks = [part.register_forward_hook(hook, with_kwargs=True) for part in parts]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()


def _list_calls(question: Question, rows: int) -> list[Positions]:
    """Return what each call of the embedding reads of ``rows`` copies of the text."""
    if question.hierarchy is not None:
        return question.hierarchy.calls(rows)
    return [Positions(torch.arange(rows)[:, None], torch.arange(len(question.ids))[None])]


@torch.no_grad()
def _embed_empty(part: Embedding, given: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
    """Embed the same ids with the vectors of all tokens and n-grams set to zero."""
    own = {
        name: torch.zeros_like(parameter)
        for name, parameter in part.named_parameters()
        if name == "table" or name.startswith("ngrams.")
    }
    return torch.func.functional_call(part, own, given, named)
