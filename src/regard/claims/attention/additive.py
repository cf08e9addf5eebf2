"""Additive attention compared with the dot product (D4 Q4)."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import time_fastest
from regard.claims.precision import exact
from regard.claims.table import tabulate
from regard.layers.attention import Additive, Score, attend, scaled_dot, softmax
from regard.models.body import all_visible

POSITIONS, FEATURES = 128, 64


@claim(
    numbers=(4,),
    source="D4 Q4; Bahdanau et al. 2015",
    statement="Additive attention is less differentiable than the scaled dot product.",
    layer="layers/attention.py",
    meaning="Both errors are those of the finite difference: tanh is smooth.",
    next_step="Run torch.autograd.gradgradcheck on either: second derivatives exist too.",
    correction="Both are smooth. They differ in cost: see additive-cost.",
)
@exact()
def additive_less_differentiable() -> Measurement:
    """Compare analytic gradients of attention with central differences, in float64.

    5 queries, 7 keys, 3 features; every entry of queries, keys and values.
    """
    heads = [torch.randn(1, 1, n, 3, requires_grad=True) for n in (5, 7, 7)]
    errors = {
        name: _measure_gradient_error(lambda *qkv, s=score: _attend(qkv, s).sum(), heads)
        for name, score in {"additive": Additive(1, 3), "dot product": scaled_dot}.items()
    }
    worse = errors["additive"] > 100 * errors["dot product"] or errors["additive"] > 1e-6
    return Measurement(
        f"gradients are exact to {errors['additive']:.0e} (additive) and "
        f"{errors['dot product']:.0e} (dot product)",
        (
            Figure("error of the gradient, additive", errors["additive"], worse),
            Figure("error of the gradient, dot product", errors["dot product"]),
        ),
    )


@claim(
    numbers=(4,),
    source="D4 Q4; Vaswani et al. 2017, §3.2.1; Britz et al. 2017",
    statement="The dot product is faster and needs less memory than additive attention.",
    layer="layers/attention.py",
    meaning="Additive attention computes one vector for every pair of query and key and keeps it "
    "for the backward pass; the dot product keeps one number. Bytes are exact, the time varies.",
    next_step="Double the positions: both ratios approach the number of features.",
)
@exact()
def additive_cost() -> Measurement:
    """Run forward and backward over 128 positions of 64 features with both scores.

    Bytes are what autograd keeps for the backward pass; the time is the best of five.
    """
    heads = [torch.randn(1, 1, POSITIONS, FEATURES, requires_grad=True) for _ in range(3)]
    scores: dict[str, Score] = {"additive": Additive(1, FEATURES), "dot product": scaled_dot}
    kept = {name: _count_saved_bytes(heads, score) for name, score in scores.items()}
    seconds = [time_fastest(partial(_run_backward, heads, score), 5) for score in scores.values()]
    memory, slower = kept["additive"] / kept["dot product"], seconds[0] / seconds[1]
    return Measurement(
        f"additive keeps {memory:.0f} times the bytes and takes {slower:.0f} times as long",
        (
            *tabulate("bytes kept, {}", kept),
            Figure("times the memory", memory, memory > 2),
            Figure("times the time (varies)", slower, slower > 1),
        ),
    )


def _attend(heads: tuple[Tensor, ...] | list[Tensor], score: Score) -> Tensor:
    query, key, value = heads
    visible = all_visible(key.shape[2])
    return attend(query, key, value, score=score, select=softmax, visible=visible).mixed


def _run_backward(heads: list[Tensor], score: Score) -> None:
    _attend(heads, score).sum().backward()


def _measure_gradient_error(function: Callable[..., Tensor], inputs: list[Tensor]) -> float:
    step, errors = 1e-5, []
    analytic = torch.autograd.grad(function(*inputs), inputs)
    with torch.no_grad():
        for tensor, gradient in zip(inputs, analytic, strict=True):
            flat = tensor.view(-1)
            for index in range(len(flat)):
                before = flat[index].item()
                ends = []
                for moved in (before + step, before - step):
                    flat[index] = moved
                    ends.append(function(*inputs).item())
                flat[index] = before
                slope = (ends[0] - ends[1]) / (2 * step)
                errors.append(abs(slope - gradient.reshape(-1)[index].item()))
    return max(errors)


def _count_saved_bytes(heads: list[Tensor], score: Score) -> int:
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        result = _attend(heads, score).sum()  # alive, so that no address is used twice
    del result
    return sum(kept.values())
