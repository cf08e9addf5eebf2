"""Arithmetic that leaves no doubt: float64, and numbers drawn from a fixed seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def exact(seed: int = 0) -> Iterator[None]:
    """Make new tensors float64 and draw from ``seed``; afterwards all is as before."""
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def difference(first: Tensor, second: Tensor) -> float:
    """Give the largest difference of two tensors."""
    return (first - second).abs().max().item()


def find_dependencies(result: Tensor, states: Tensor) -> list[int]:
    """Give the places of one text on which a number depends: their derivative is not zero."""
    (gradient,) = torch.autograd.grad(result, states, retain_graph=True)
    return gradient[0].abs().sum(dim=-1).gt(0).nonzero().flatten().tolist()
