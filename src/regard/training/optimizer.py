"""Optimizers: AdamW, Adam and plain steps from torch; Muon, in float32; Adam on rows alone.

    moved  = orthogonal(lerp(gradient, momentum))        orthogonal(G) = U·Vᵀ of G = U·S·Vᵀ
    matrix = (1 - rate·decay)·matrix - rate·√max(1, rows/columns)·moved

Muon (Jordan 2024) moves every direction of a matrix equally far. Its orthogonal factor comes from
a few Newton-Schulz steps. torch's own Muon takes them in bfloat16, ten times slower than float32
on processors without it; ours takes them in float32, all matrices of one shape at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from regard.recipe.training import (
    AdamSettings,
    AdamWSettings,
    AnyOptimizer,
    MuonSettings,
    SgdSettings,
)
from regard.training.row_adam import RowAdam

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan 2024: steepest at zero, within 0.7..1.2 after


def make_optimizers(
    model: nn.Module,
    settings: AnyOptimizer,
    *,
    shares: Mapping[str, float] = MappingProxyType({}),
) -> list[torch.optim.Optimizer]:
    """Return the optimizers that together step every parameter; ``rate`` is kept in each group.

    ``shares`` gives, by name, the share of the rate at which a parameter learns; 1 where left out.
    """
    share = {id(w): shares.get(name, 1.0) for name, w in model.named_parameters()}
    if isinstance(settings, SgdSettings):
        groups = _by_share(model.parameters(), share)
        return [
            torch.optim.SGD(
                [{"params": alike, "rate": settings.rate * s} for s, alike in groups],
                lr=settings.rate,
            )
        ]
    lazy = lazy_tables(model)
    others = {id(table) for table in lazy}
    parameters: list[Tensor] = [w for w in model.parameters() if id(w) not in others]
    if isinstance(settings, MuonSettings):
        hidden = hidden_matrices(model)
        chosen = {id(matrix) for matrix in hidden}
        rest = [parameter for parameter in parameters if id(parameter) not in chosen]
        muon = Muon(
            [{"params": w, "rate": settings.rate * s} for s, w in _by_share(hidden, share)],
            rate=settings.rate,
            momentum=settings.momentum,
            weight_decay=settings.weight_decay,
            steps=settings.newton_schulz_steps,
        )
        return [muon, _adam(rest, settings.rest, share), *_rows(lazy, settings.rest, share)]
    return [_adam(parameters, settings, share), *_rows(lazy, settings, share)]


def lazy_tables(model: nn.Module) -> list[Tensor]:
    """Tables of which a step moves only the rows it has read."""
    return [
        table
        for part in model.modules()
        if getattr(part, "lazy", False)
        for table in part.parameters()
    ]


def hidden_matrices(model: nn.Module) -> list[Tensor]:
    """Matrices between states: every linear map that is not a head's."""
    return [
        part.weight
        for name, part in model.named_modules()
        if isinstance(part, nn.Linear) and not any(p.endswith("head") for p in name.split("."))
    ]


def _by_share(
    parameters: Iterable[Tensor], share: Mapping[int, float]
) -> list[tuple[float, list[Tensor]]]:
    groups: dict[float, list[Tensor]] = defaultdict(list)
    for parameter in parameters:
        groups[share[id(parameter)]].append(parameter)
    return list(groups.items())


def _adam(
    parameters: list[Tensor],
    settings: AdamWSettings | AdamSettings,
    share: Mapping[int, float],
) -> torch.optim.Optimizer:
    """Adam; vectors (norms, biases) are never pulled to zero."""
    decay = settings.weight_decay if isinstance(settings, AdamWSettings) else 0.0
    kinds = [
        ([w for w in parameters if w.ndim > 1], decay),
        ([w for w in parameters if w.ndim <= 1], 0.0),
    ]
    return torch.optim.AdamW(
        [
            {"params": alike, "weight_decay": pull, "rate": settings.rate * s}
            for kind, pull in kinds
            for s, alike in _by_share(kind, share)
        ],
        lr=settings.rate,
        betas=settings.betas,
        eps=settings.epsilon,
        fused=True,
    )


def _rows(
    tables: list[Tensor], settings: AdamWSettings | AdamSettings, share: Mapping[int, float]
) -> list[torch.optim.Optimizer]:
    if not tables:
        return []
    decay = settings.weight_decay if isinstance(settings, AdamWSettings) else 0.0
    return [
        RowAdam(
            [{"params": w, "rate": settings.rate * s} for s, w in _by_share(tables, share)],
            rate=settings.rate,
            betas=settings.betas,
            epsilon=settings.epsilon,
            weight_decay=decay,
        )
    ]


class Muon(torch.optim.Optimizer):
    """Momentum, made orthogonal.

    Args:
        matrices: The matrices to move, or groups of them as torch has them.
        rate: Learning rate.
        momentum: How slowly the running mean of the gradient forgets.
        weight_decay: How strongly matrices are pulled to zero.
        steps: Newton-Schulz steps.

    """

    def __init__(
        self,
        matrices: Iterable[Any],
        *,
        rate: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        steps: int = 5,
    ) -> None:
        defaults = {
            "lr": rate,
            "rate": rate,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "steps": steps,
        }
        super().__init__(list(matrices), defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every matrix once."""
        assert closure is None
        for group in self.param_groups:
            for alike in _by_shape(group["params"]):
                self._move(alike, group)

    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        wished = []
        for matrix in matrices:
            assert matrix.grad is not None
            state = self.state[matrix]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(matrix)
            mean = state["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
            wished.append(matrix.grad.lerp(mean, group["momentum"]))  # Nesterov
        moved = orthogonal(torch.stack(wished), steps=group["steps"])
        rows, columns = matrices[0].shape
        far = group["lr"] * max(1.0, rows / columns) ** 0.5
        for matrix, direction in zip(matrices, moved, strict=True):
            matrix.mul_(1 - group["lr"] * group["weight_decay"]).add_(direction, alpha=-far)


def orthogonal(matrices: Tensor, *, steps: int) -> Tensor:
    """Bring every singular value near one, leaving the directions as they are."""
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT.contiguous() if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _by_shape(matrices: Iterable[Tensor]) -> list[list[Tensor]]:
    alike = defaultdict(list)
    for matrix in matrices:
        if matrix.grad is not None:
            alike[matrix.shape].append(matrix)
    return list(alike.values())
