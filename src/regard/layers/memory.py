"""Memory: what a mixer keeps between two steps, so that a step costs one position and not all.

Attention keeps the keys and values it has seen, recurrence its last state, convolution the last
few inputs. Every tensor has ``batch`` first, so that a search can reorder, repeat or drop rows.
"""

from collections.abc import Iterator, MutableMapping

import torch
from jaxtyping import Int
from torch import Tensor


class Memory(MutableMapping[str, Tensor]):
    """Tensors by name, and how many positions have been seen."""

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
        """Put ``newest`` behind what is kept under ``name`` along ``dim``; return all of it."""
        kept = self._kept.get(name)
        self._kept[name] = newest if kept is None else torch.cat([kept, newest], dim=dim)
        return self._kept[name]

    def keep(self, rows: Int[Tensor, " row"]) -> None:
        """Go on with these rows, in this order; a row may be repeated or left out."""
        for name, tensor in self._kept.items():
            self._kept[name] = tensor.index_select(0, rows.to(tensor.device))
