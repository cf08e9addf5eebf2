"""Memory: what a mixer caches between two steps of generation, so that a step costs one position.

Attention caches keys and values (a KV cache), recurrence its last state, convolution its last
inputs. Every tensor has ``batch`` first, so that a search can reorder, repeat or drop rows.
"""

from collections.abc import Iterator, MutableMapping

import torch
from jaxtyping import Int
from torch import Tensor


class Memory(MutableMapping[str, Tensor]):
    """Cached tensors by name, and the number of positions processed."""

    def __init__(self) -> None:
        self.positions = 0
        self._kept: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        return self._kept[name]

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        self._kept[name] = tensor

    def __delitem__(self, name: str) -> None:
        del self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def append(self, name: str, newest: Tensor, *, dim: int) -> Tensor:
        """Append ``newest`` to the tensor ``name`` along ``dim``, and return the result."""
        kept = self._kept.get(name)
        self._kept[name] = newest if kept is None else torch.cat([kept, newest], dim=dim)
        return self._kept[name]

    def keep(self, rows: Int[Tensor, " row"]) -> None:
        """Select rows, in this order; a row may be repeated or dropped."""
        for name, tensor in self._kept.items():
            self._kept[name] = tensor.index_select(0, rows.to(tensor.device))
