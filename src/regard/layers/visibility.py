"""Visibility: who may look at whom. True means *may look*; rules combine with ``&``.

Every rule answers for all (query, key) pairs at once and broadcasts over the axes it ignores,
so a decoder's view is simply ``causal(n, n) & padding(lengths, n)``. A mixer takes a :data:`Rule`
and asks it for the sizes at hand; :func:`every` makes one rule of several.
"""

from functools import partial, reduce
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Device = torch.device | None


@runtime_checkable
class Rule(Protocol):
    """(queries, keys) -> visible. The last query stands at the last key."""

    def __call__(self, queries: int, keys: int, *, device: Device = None) -> Tensor: ...


def causal(queries: int, keys: int, *, device: Device = None) -> Bool[Tensor, "1 1 query key"]:
    """No looking ahead. The last query stands at the last key."""
    return (_offset(queries, keys, device) <= 0)[None, None]


def local(
    queries: int, keys: int, window: int, *, device: Device = None
) -> Bool[Tensor, "1 1 query key"]:
    """No looking further than ``window`` positions either way (Luong et al. 2015, §3.2)."""
    return (_offset(queries, keys, device).abs() <= window)[None, None]


def padding(lengths: Int[Tensor, " batch"], keys: int) -> Bool[Tensor, "batch 1 1 key"]:
    """No looking at padding."""
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None]


def within(window: int) -> Rule:
    """Return the rule of :func:`local` for one ``window``."""
    return partial(local, window=window)


def every(*rules: Rule) -> Rule:
    """One rule that permits what all of ``rules`` permit; of a single one, itself."""
    return rules[0] if len(rules) == 1 else partial(_every, rules)


def _every(
    rules: tuple[Rule, ...], queries: int, keys: int, *, device: Device = None
) -> Bool[Tensor, "1 1 query key"]:
    return reduce(torch.logical_and, (rule(queries, keys, device=device) for rule in rules))


def _offset(queries: int, keys: int, device: Device) -> Int[Tensor, "query key"]:
    """How far ahead of each query each key stands."""
    stands = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) - stands[:, None]
