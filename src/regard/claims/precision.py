"""Arithmetic that leaves no doubt: float64, and numbers drawn from a fixed seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


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
