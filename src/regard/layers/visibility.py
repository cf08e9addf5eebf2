"""Attention masks. True means that a query may attend to a key; masks combine with ``&``.

Every mask broadcasts over the axes that it does not depend on: a decoder's is
``causal(n, n) & padding(lengths, n)``. A mixer takes a :data:`Rule`, a function of the sizes;
:func:`every` combines several.
"""

from functools import partial, reduce
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Device = torch.device | None


@runtime_checkable
class Rule(Protocol):
    """(queries, keys) -> visible. The last query is at the position of the last key."""

    def __call__(self, queries: int, keys: int, *, device: Device = None) -> Tensor: ...


def causal(queries: int, keys: int, *, device: Device = None) -> Bool[Tensor, "1 1 query key"]:
    """Mask later keys. The last query is at the position of the last key."""
    return (_offset(queries, keys, device) <= 0)[None, None]


def local(
    queries: int, keys: int, window: int, *, device: Device = None
) -> Bool[Tensor, "1 1 query key"]:
    """Mask keys more than ``window`` positions away (Luong et al. 2015, §3.2)."""
    return (_offset(queries, keys, device).abs() <= window)[None, None]


def padding(lengths: Int[Tensor, " batch"], keys: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Mask padding."""
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None]


def within(window: int) -> Rule:
    """Return the rule of :func:`local` for one ``window``."""
    return partial(local, window=window)


def every(*rules: Rule) -> Rule:
    """Combine rules: visible is what all of them permit."""
    return rules[0] if len(rules) == 1 else partial(_every, rules)


def _every(
    rules: tuple[Rule, ...], queries: int, keys: int, *, device: Device = None
) -> Bool[Tensor, "1 1 query key"]:
    return reduce(torch.logical_and, (rule(queries, keys, device=device) for rule in rules))


def _offset(queries: int, keys: int, device: Device) -> Int[Tensor, "query key"]:
    """Return key position - query position for every pair."""
    positions = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) - positions[:, None]
