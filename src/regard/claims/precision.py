"""Reproducible arithmetic: float64 and a fixed seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def exact(seed: int = 0) -> Iterator[None]:
    """Make new tensors float64 and seed the generator; restore both afterwards."""
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def difference(first: Tensor, second: Tensor) -> float:
    """Give the largest absolute difference of two tensors."""
    return (first - second).abs().max().item()


def find_dependencies(result: Tensor, states: Tensor) -> list[int]:
    """Give the positions on which a scalar depends: those with a nonzero derivative."""
    (gradient,) = torch.autograd.grad(result, states, retain_graph=True)
    return gradient[0].abs().sum(dim=-1).gt(0).nonzero().flatten().tolist()
